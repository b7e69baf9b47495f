import assert from 'node:assert/strict'
import { systemClock } from '../../clock/index.ts'
import type { Store } from '../../contracts/index.ts'
import { type AuditEntry, auditedActions, keepAudit } from '../../operations/audit.ts'
import { parkedMessage } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { failureOf } from '../waiting.ts'
import { dead, park, rowOf } from './parked-rows.ts'

export const auditCases: readonly StoreCase[] = [
  {
    name: 'audit: entries are listed completely, the latest first, up to the limit',
    async run({ store, rival }) {
      const subject = { text: `'"\\%_ 😀`, nul: '\0', lone: '\ud800', many: 'x'.repeat(10_000) }
      const actions = ['redrive', 'stop-redrive', 'discard', 'edit', 'annotate', 'forget'] as const
      const entries = actions.map((action, index) => ({ action, by: `b${index}`, why: `it's ü ${index}`, subject }))
      await append(store, ...entries.slice(0, 4))
      for (const each of entries.slice(4)) await append(rival, each)
      const listed = await auditedActions(store, 10)
      assert.deepEqual(
        listed.map(({ at, ...entry }) => entry),
        entries.toReversed(),
      )
      for (const { at } of listed) assert.ok(Math.abs(at.getTime() - Date.now()) < 1_800_000, `${at}`)
      assert.deepEqual(await auditedActions(rival, 2), listed.slice(0, 2))
    },
  },
  {
    name: 'audit: an entry commits or rolls back with the action it describes',
    async run({ store }) {
      await park(store, parkedMessage('m1'), parkedMessage('m2'))
      const giveUp = (key: string, fails: boolean) =>
        store.transaction(async (tx) => {
          await store.parking.change(tx, [dead(key)])
          await keepAudit({ store, clock: systemClock }, tx, {
            action: 'discard',
            by: 'ana',
            why: '',
            subject: { key },
          })
          if (fails) throw new Error('the work failed')
        })
      await failureOf(giveUp('m1', true), 'work that throws')
      await giveUp('m2', false)
      assert.deepEqual(
        (await auditedActions(store)).map(({ subject }) => subject),
        [{ key: 'm2' }],
      )
      assert.deepEqual([(await rowOf(store, 'm1')).state, (await rowOf(store, 'm2')).state], ['waiting', 'dead'])
    },
  },
]

function append<Tx>(store: Store<Tx>, ...entries: readonly AuditEntry[]): Promise<void> {
  return store.transaction((tx) => keepAudit({ store, clock: systemClock }, tx, ...entries))
}
