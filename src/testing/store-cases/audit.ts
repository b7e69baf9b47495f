import assert from 'node:assert/strict'
import type { AuditEntry } from '../../contracts/index.ts'
import type { StoreCase } from '../store-case.ts'
import { failureOf } from '../waiting.ts'
import { bury } from './redrive-steps.ts'

export const auditCases: readonly StoreCase[] = [
  {
    name: 'audit: everything about what was done comes back, the latest first, up to the limit',
    needs: ['letters'],
    async run({ store, rival }) {
      const subject = JSON.stringify({ text: `'"\\%_ 😀`, nul: '\0', lone: '\ud800', many: 'x'.repeat(10_000) })
      const actions = ['redrive', 'stop-redrive', 'discard', 'edit', 'annotate', 'forget'] as const
      const entries = actions.map((action, index) => ({ action, by: `b${index}`, why: `it's ü ${index}`, subject }))
      await store.transaction((tx) => store.audit.append(tx, entries.slice(0, 4)))
      for (const each of entries.slice(4)) await rival.transaction((tx) => rival.audit.append(tx, [each]))
      const listed = await store.audit.list(10)
      assert.deepEqual(
        listed.map(({ at, ...entry }) => entry),
        entries.toReversed(),
      )
      for (const { at } of listed) assert.ok(Math.abs(at.getTime() - Date.now()) < 1_800_000, `${at}`)
      assert.deepEqual(await rival.audit.list(2), listed.slice(0, 2))
    },
  },
  {
    name: 'audit: an entry lives and dies with what it tells of',
    needs: ['letters'],
    async run({ store }) {
      await bury(store, 'm1', 'm2')
      const discard = (key: string, fails: boolean) =>
        store.transaction(async (tx) => {
          await store.letters.discard(tx, { key }, 1)
          await store.audit.append(tx, [entry(key)])
          if (fails) throw new Error('the work failed')
        })
      await failureOf(discard('m1', true), 'work that throws')
      await discard('m2', false)
      assert.deepEqual(
        (await store.audit.list(10)).map(({ subject }) => subject),
        ['m2'],
      )
      assert.equal(await store.parking.count(), 1)
    },
  },
  {
    name: 'audit: nothing to append is no error',
    needs: ['letters'],
    async run({ store }) {
      await store.transaction((tx) => store.audit.append(tx, []))
      assert.deepEqual(await store.audit.list(10), [])
    },
  },
]

function entry(subject: string): AuditEntry {
  return { action: 'discard', by: 'ana', why: 'not wanted', subject }
}
