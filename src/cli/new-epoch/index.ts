import { parseArgs } from 'node:util'
import { type Command, UsageError } from '../command.ts'
import { loadStore } from '../load-store.ts'
import { reaching } from '../reaching.ts'

const help = `Usage: justonce new-epoch --store <file>

Makes every cache forget what it knows of this store: those of running processes within a second, and the hot side
beside it. Nothing else changes, and no message is lost or doubled by it; for a while more of them are asked for in the
database.

Use it when records are gone and nothing can tell: rows of the inbox were deleted or put back by hand, or a backup was
restored in a way that docs/drivers/hints.md says is not recognised. <file> exports the store, as default or under the
name 'store'. The exit code is 0 if it was done, 2 if it could not be done.
`

export const newEpochCommand: Command = {
  name: 'new-epoch',
  summary: 'makes every cache forget, after records were lost or restored by hand',
  help,
  async run(args, { out }) {
    const store = await loadStore(parse(args))
    try {
      await reaching(store, async () => {
        await store.schema.check()
        await store.transaction((tx) => store.inbox.forget(tx, []))
      })
      out.write(`The ${store.name} store has a new epoch: no cache goes by what it knew before.\n`)
      return 0
    } finally {
      await store.close().catch(() => {})
    }
  },
}

function parse(args: readonly string[]): string {
  try {
    const { values } = parseArgs({ args: [...args], options: { store: { type: 'string' } } as const })
    if (values.store === undefined) throw new UsageError('say which store: --store <file>.')
    return values.store
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : String(error)}\n\n${help}`)
  }
}
