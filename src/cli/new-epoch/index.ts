import { parseArgs } from 'node:util'
import { type Command, parsing, UsageError } from '../command.ts'
import { withStore } from '../load-store.ts'
import { reaching } from '../reaching.ts'

const help = `Usage: justonce new-epoch --store <file>

Empties every cache of what this store has processed: in running processes within a second, and in the hot side next to
the store. Nothing else changes, and no message is lost or handled twice. For a while, more duplicates are looked up in
the database.

Use it when records are gone and justonce cannot notice: rows of the inbox were deleted or restored by hand, or a backup
was restored in a way that is not detected (see docs/drivers/hints.md). <file> exports the store, as default or under the
name 'store'. The exit code is 0 if it was done, 2 after an error.
`

export const newEpochCommand: Command = {
  name: 'new-epoch',
  summary: 'empties every cache, after records were lost or restored by hand',
  help,
  run: async (args, { out }) =>
    withStore(parse(args), async (store) => {
      await reaching(store, async () => {
        await store.schema.check()
        await store.transaction((tx) => store.inbox.forget(tx, []))
      })
      out.write(`The ${store.name} store has a new epoch: caches no longer trust what they knew before.\n`)
      return 0
    }),
}

function parse(args: readonly string[]): string {
  return parsing(help, () => {
    const { values } = parseArgs({ args: [...args], options: { store: { type: 'string' } } as const })
    if (values.store === undefined) throw new UsageError('which store? Give --store <file>.')
    return values.store
  })
}
