import { PermanentError, participantIn } from 'justonce'
import { type Moved, release, reserve, take } from 'justonce/patterns'
import { sqliteStore } from 'justonce/sqlite'

export interface Order {
  readonly order: string
  readonly count: number
}

/** A service with a database of its own: how much there is, and how much of it is set aside. */
export async function openService(name: string, free: number) {
  const store = sqliteStore({ path: ':memory:' })
  await store.schema.install()
  await store.transaction(async (tx) => {
    tx.exec('create table amounts (name text primary key, free integer, held integer)')
    tx.prepare('insert into amounts values (?, ?, 0)').run(name, free)
  })
  const participant = participantIn(store, {
    async try(tx, { body }: { body: Order }) {
      const set = await reserve(tx, 'amounts', { name }, { amount: body.count })
      if (set.kind !== 'moved') throw new PermanentError(`not enough ${name}`) // then everybody cancels
    },
    confirm: async (tx, { body }) => mustHaveMoved(await take(tx, 'amounts', { name }, { amount: body.count })),
    cancel: async (tx, { body }) => mustHaveMoved(await release(tx, 'amounts', { name }, { amount: body.count })),
  })
  const left = async () => {
    const [row] = await store.transaction(async (tx) => tx.prepare('select free, held from amounts').all())
    return `${row?.free} ${name} (${row?.held} set aside)`
  }
  return { store, participant, left }
}

/** What was set aside is there, unless somebody else has changed the row. Then nothing was taken, and it is not confirmed. */
function mustHaveMoved({ kind }: Moved): void {
  if (kind !== 'moved') throw new Error(`What was set aside is ${kind}.`)
}
