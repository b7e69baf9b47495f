import { parseArgs } from 'node:util'
import { type Command, parsing, UsageError } from '../command.ts'
import { withStore } from '../load-store.ts'
import { reaching } from '../reaching.ts'

const help = `Usage: justonce retention repair-horizon --store <file>

Lowers the horizon to the point up to which records were really removed. Use it when a wrong clock has raised it too far,
so that healthy messages are parked as TOO_OLD_TO_KNOW: correct the clock, repair the horizon, then redrive those letters.
A running app raises it again by itself, to where it belongs. A message whose record was removed still does not run again.

<file> exports the store, as default or under the name 'store'. The exit code is 0 if it was done, 2 after an error.
`

export const retentionCommand: Command = {
  name: 'retention',
  summary: 'repairs the horizon after a wrong clock has raised it too far',
  help,
  run: async (args, { out }) =>
    withStore(parse(args), async (store) => {
      const { retention } = store
      if (retention === undefined) throw new UsageError(`the ${store.name} store has no horizon.`)
      const { before, horizon } = await reaching(store, async () => {
        await store.schema.check()
        return await retention.repairHorizon()
      })
      out.write(`The horizon was ${said(before)}. Now it is ${said(horizon)}.\n`)
      return 0
    }),
}

function said(horizon: Date | undefined): string {
  return horizon === undefined ? 'not set: no record has been removed' : horizon.toISOString()
}

function parse(args: readonly string[]): string {
  return parsing(help, () => {
    const options = { store: { type: 'string' } } as const
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true })
    if (positionals.join(' ') !== 'repair-horizon') throw new UsageError('do what? Give repair-horizon.')
    if (values.store === undefined) throw new UsageError('which store? Give --store <file>.')
    return values.store
  })
}
