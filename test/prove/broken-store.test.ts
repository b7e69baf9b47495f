import type { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import type { Store } from '../../src/index.ts'
import type { SqliteStore } from '../../src/stores/sqlite/index.ts'
import { prove, type ScratchDatabase, scratchSqlite } from '../../src/testing/index.ts'
import { overriding } from '../../src/testing/overriding.ts'
import { addToBalance, proofOf } from './museum/payments.ts'

type Sqlite = SqliteStore<DatabaseSync>

/** SQLite as ever, with a store that is broken on purpose. */
function scratchWith(breaking: (store: Sqlite) => Partial<Store<DatabaseSync>>): ScratchDatabase<Sqlite> {
  const scratch = scratchSqlite()
  return {
    name: 'a broken store',
    async prepare(setup) {
      const template = await scratch.prepare(setup)
      return {
        remove: () => template.remove(),
        async fresh() {
          const copy = await template.fresh()
          return overriding(copy, {
            async openStore() {
              const { store, close } = await copy.openStore()
              return { store: overriding(store, breaking(store) as Partial<Sqlite>), close }
            },
          })
        },
      }
    },
  }
}

/** A proof that cannot fail proves nothing: here the faults must be felt, each where it strikes. */
// Within one process the engine's own memory of what it has committed helps even then.
test('a store that forgets what was processed is detected by every fault that brings a message twice', async () => {
  const amnesia = scratchWith(({ inbox }) => ({
    inbox: overriding(inbox, {
      async claim(tx, requests) {
        const { epoch } = await inbox.claim(tx, requests)
        return { epoch, existing: requests.map(() => undefined) }
      },
    }),
  }))
  const proof = await prove({
    ...proofOf((message, context) => addToBalance(context, message), { database: amnesia }),
    messages: proofOf(() => {}).messages.slice(0, 1),
  })
  expect(proof.failures.map(({ name }) => name)).toEqual(['effect-differs'])
  expect(proof.failures[0]?.differences).toMatchObject([
    { table: 'accounts', columns: ['balance'], expected: { balance: 130 }, found: { balance: 160 } },
  ])
  const [table] = proof.table
  const broken = table?.rows.flatMap(({ step, verdicts }) =>
    Object.entries(verdicts).flatMap(([fault, { kind }]) => (kind === 'broken' ? [`${fault} ${step.kind}`] : [])),
  )
  expect(broken).toEqual([
    'copy-elsewhere claim',
    'copy-elsewhere query',
    'crash-after commit',
    'copy-elsewhere commit',
    'answer-lost commit',
    'crash-before ack',
    'copy-elsewhere ack',
  ])
  const around = Object.entries(table?.around ?? {}).map(([fault, { kind }]) => [fault, kind])
  expect(Object.fromEntries(around)).toEqual({
    'twice-in-a-batch': 'held',
    again: 'held',
    'again-after-restart': 'broken',
    'neighbour-fails-before': 'held',
    'neighbour-fails-after': 'held',
  })
})

test('a store that keeps what it should undo is detected by every crash between the first write and the commit', async () => {
  const leaky = scratchWith((store) => ({
    lend(tx, options) {
      const loan = store.lend(tx, options)
      const leak: unknown[] = leaked
      return overriding(loan, {
        tx: overriding(loan.tx, {
          prepare: (sql: string) => {
            leak.push(sql)
            return loan.tx.prepare(sql)
          },
        }),
      })
    },
  }))
  const leaked: string[] = []
  const proof = await prove(
    proofOf((message, context) => addToBalance(context, message), {
      database: leaky,
      reset: () => void leaked.splice(0),
      observe: () => ({ statements: [...leaked] }),
    }),
  )
  expect(proof.failures.map(({ name }) => name)).toEqual(['writes-outside-tx'])
  const [table] = proof.table
  const broken = table?.rows.flatMap(({ step, verdicts }) =>
    Object.entries(verdicts).flatMap(([fault, { kind }]) => (kind === 'broken' ? [`${fault} ${step.kind}`] : [])),
  )
  expect(broken).toEqual([
    'crash-before query',
    'crash-after query',
    'error query',
    'crash-before commit',
    'error commit',
    'answer-lost commit',
  ])
})
