import { isJustonceError } from '../errors/index.ts'
import { type Command, UsageError } from './command.ts'
import { migrateCommand } from './migrate/index.ts'
import { newEpochCommand } from './new-epoch/index.ts'
import { proveCommand } from './prove/index.ts'
import { retentionCommand } from './retention/index.ts'
import type { Terminal } from './terminal.ts'

const commands: readonly Command[] = [migrateCommand, newEpochCommand, proveCommand, retentionCommand]

export async function runCommand(args: readonly string[], terminal: Terminal): Promise<number> {
  const [name, ...rest] = args
  const command = commands.find((each) => each.name === name)
  if (command === undefined) return overview(name, terminal)
  if (rest.includes('--help') || rest.includes('-h')) {
    terminal.out.write(command.help)
    return 0
  }
  try {
    return await command.run(rest, terminal)
  } catch (error) {
    const isExplained = error instanceof UsageError || isJustonceError(error)
    terminal.err.write(`justonce ${command.name}: ${isExplained ? error.message : stackOf(error)}\n`)
    return 2
  }
}

function overview(name: string | undefined, { out, err }: Terminal): number {
  const isAsked = name === undefined || name === 'help' || name === '--help' || name === '-h'
  const lines = commands.map((command) => `  ${command.name.padEnd(12)}${command.summary}`)
  const text = `Usage: justonce <command>\n\n${lines.join('\n')}\n\njustonce <command> --help explains one.\n`
  if (isAsked) out.write(text)
  else err.write(`justonce has no command '${name}'.\n\n${text}`)
  return isAsked ? 0 : 2
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
