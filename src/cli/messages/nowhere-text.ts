import type { Desk } from '../operator-command.ts'
import { shellWord } from '../output/shell-word.ts'
import { onOneLine } from '../output/table.ts'
import { counted } from '../output/wording.ts'

/** What it means that nothing is known of a message, and what may keep it where it is. */
export async function nowhereText({ operations }: Pick<Desk, 'operations'>, id: string): Promise<string> {
  const handlers = await operations.handlers.list()
  const { processes, brokers } = await operations.overview({ minutes: 0 })
  const lines = [
    `Nothing is known of ${id}: no handler of an app has processed it or has it parked, none is running it, and it is not among the oldest 1,000 of any queue of the store.`,
    'It has not arrived, is still at its broker, or is called otherwise: look for the key that identify() makes, or with messages find --business-id.',
    `What once() has done is found by its name: justonce messages find --key=${shellWord(id)} --handler NAME.`,
  ]
  if (processes === 0) lines.push('No process reports that it is alive.')
  const trouble = (await operations.processes()).flatMap((each) => each.trouble ?? [])
  for (const line of new Set(trouble.map(({ name, message }) => `${name} cannot be read: ${message}`))) lines.push(line)
  for (const { name, paused, processes: places } of handlers) {
    if (paused !== undefined) lines.push(`The handler ${name} is paused by ${paused.by}: what arrives for it is held.`)
    else if (places.some(({ breaker }) => breaker === 'open'))
      lines.push(`The handler ${name} fails on everything: what arrives for it is held, and tried one at a time.`)
  }
  for (const [name, waiting] of Object.entries(brokers))
    if (waiting > 0) lines.push(`${counted(waiting, 'message waits', 'messages wait')} at ${name}.`)
  return lines.map((line) => `${onOneLine(line)}\n`).join('')
}
