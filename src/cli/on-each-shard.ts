import { isJustonceError } from '../errors/index.ts'
import { UsageError } from './command.ts'
import type { Opened } from './open-store.ts'
import { jsonOf } from './output/wording.ts'
import type { Terminal } from './terminal.ts'

/**
 * Does it in one shard after the other. One that is down is reported and keeps the others from nothing. Resolves to the highest exit
 * code. As JSON, all answers are one object, by shard.
 */
export async function onEachShard(
  all: readonly Opened[],
  terminal: Terminal,
  { isJson, run }: { readonly isJson: boolean; run(opened: Opened, terminal: Terminal): Promise<number> },
): Promise<number> {
  let code = 0
  const answers: Record<string, unknown> = {}
  for (const opened of all) {
    const { shard = '' } = opened
    const said: string[] = []
    const out = Object.assign(Object.create(terminal.out), { write: (text: string) => said.push(text) > 0 })
    if (!isJson) terminal.out.write(`${shard}:\n`)
    try {
      code = Math.max(code, await run(opened, isJson ? { ...terminal, out } : terminal))
      if (isJson) answers[shard] = parsed(said.join(''))
    } catch (error) {
      if (!(error instanceof UsageError) && !isJustonceError(error)) throw error
      code = 2
      if (isJson) answers[shard] = { error: error.message }
      else terminal.err.write(`${shard}: ${error.message}\n`)
    }
    if (!isJson) terminal.out.write('\n')
  }
  if (isJson) terminal.out.write(jsonOf(answers))
  return code
}

/** What a command prints in several pieces stays text. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
