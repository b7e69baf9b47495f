import assert from 'node:assert/strict'
import { countParked, type Operations, operations } from '../../operations/index.ts'
import { runningRedrives } from '../../operations/redrives.ts'
import { handler } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { bury } from '../store-cases/redrive-steps.ts'
import { eventually } from '../waiting.ts'
import { engineCase, later, note } from './bench.ts'

const ana = { by: 'ana', why: 'it is repaired' } as const

/** Operators who have only the store, while the handlers are in another process. */
export const operationsCases: readonly StoreCase[] = [
  engineCase({
    name: 'operations: without handlers, waiting messages can be listed and made due, and they run once',
    async run({ store, rival, effects, app }) {
      let isBroken = true
      const { app: notes, handle } = app()
      notes.on('note.created', { name: 'tag-note', ...later }, async ({ id }, { tx }) => {
        await effects.write(tx, id)
        if (isBroken) throw new Error('not yet')
      })
      await handle(note('m1'), note('m2'))
      const { retries, records, audit } = operations(rival)
      const listed = await retries.list()
      assert.deepEqual(
        listed.map(({ handler, key, attempts }) => [handler, key, attempts]),
        [
          ['tag-note', 'm1', 1],
          ['tag-note', 'm2', 1],
        ],
      )
      assert.ok(listed.every(({ nextAt, changedAt }) => nextAt.getTime() > changedAt.getTime()))
      isBroken = false
      assert.equal(await retries.retryNow({ handler: 'tag-note', key: 'm1' }, ana), 1)
      await eventually(async () => ((await countParked(store)) === 1 ? true : undefined), 'the retry')
      assert.deepEqual([await effects.count('m1'), await effects.count('m2')], [1, 0])
      assert.equal((await records.find({ handler: 'tag-note', key: 'm1' }))?.state, 'processed')
      assert.equal((await retries.get({ handler: 'tag-note', key: 'm2' }))?.attempts, 1)
      assert.deepEqual(
        (await audit()).map(({ action, by, why }) => ({ action, by, why })),
        [{ action: 'retry', ...ana }],
      )
    },
  }),
  engineCase({
    name: 'operations: everything that several operators do at the same time is done',
    async run({ store, rival }) {
      const keys = Array.from({ length: 8 }, (_, index) => `m${index}`)
      await bury(store, ...keys)
      const operators = [operations(store), operations(rival)] as const
      const byTurns = <T>(act: (operator: Operations, key: string) => Promise<T>): Promise<T[]> =>
        Promise.all(keys.map((key, index) => act(operators[index % 2] as Operations, key)))
      const group = { handler, reason: 'HANDLER_FAILED', shape: 'no' }
      await byTurns(({ letters }, key) => letters.annotate(group, `seen with ${key}`, ana))
      const started = await byTurns(({ letters }, key) => letters.redrive({ handler, key }, ana))
      assert.deepEqual(new Set(started.map(({ selected }) => selected)), new Set([1]))
      const ids = started.map(({ id }) => id)
      assert.deepEqual((await runningRedrives(store)).ids.toSorted(), ids.toSorted())
      await byTurns(({ letters }, key) => letters.stopRedrive(ids[keys.indexOf(key)] as string, ana))
      assert.deepEqual((await runningRedrives(store)).ids, [])
      assert.equal((await operations(rival).audit()).length, 24)
    },
  }),
]
