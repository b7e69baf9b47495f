import { version } from '../encoding/version.ts'
import { isJustonceError } from '../errors/index.ts'
import { UsageError } from './command.ts'
import { commands } from './commands.ts'
import { whyNotThisNode } from './node-version.ts'
import { plainLines } from './output/table.ts'
import { wrapped } from './output/wrap.ts'
import type { Terminal } from './terminal.ts'

export async function runCommand(args: readonly string[], terminal: Terminal): Promise<number> {
  const [name, ...rest] = args
  if (name === '--version' || name === '-v') {
    terminal.out.write(`${version}\n`)
    return 0
  }
  const command = commands.find((each) => each.name === name)
  if (command === undefined) return overview(name, terminal)
  if (rest.includes('--help') || rest.includes('-h')) {
    terminal.out.write(wrapped(command.helpFor?.(rest) ?? command.help, terminal.out))
    return 0
  }
  const tooOld = whyNotThisNode(process.versions.node)
  if (tooOld !== undefined) {
    terminal.err.write(`${tooOld}\n`)
    return 2
  }
  try {
    return await command.run(rest, terminal)
  } catch (error) {
    const isExplained = error instanceof UsageError || isJustonceError(error)
    const said = `justonce ${command.name}: ${plainLines(isExplained ? error.message : stackOf(error))}\n`
    terminal.err.write(isExplained ? wrapped(said, terminal.err) : said)
    return isNo(error) ? 1 : 2
  }
}

/** It could be asked, and the answer is that there is none. */
function isNo(error: unknown): boolean {
  return isJustonceError(error, 'LETTERS_NONE_FOUND') || isJustonceError(error, 'INTENT_NOT_FOUND')
}

function overview(name: string | undefined, { out, err }: Terminal): number {
  const isAsked = name === undefined || name === 'help' || name === '--help' || name === '-h'
  const lines = commands.map((command) => `  ${command.name.padEnd(14)}${command.summary}`)
  const text = `Usage: justonce <command>

${lines.join('\n')}

justonce <command> --help explains one. Most of them need a store: --store postgres://… (or mysql://…, redis://…, sqlite:path), or a justonce.config.ts in the current folder that exports your app. A good first one: justonce status
`
  if (isAsked) out.write(wrapped(text, out))
  else err.write(wrapped(`justonce has no command '${plainLines(name ?? '')}'.\n\n${text}`, err))
  return isAsked ? 0 : 2
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
