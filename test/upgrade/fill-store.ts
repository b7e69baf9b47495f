import type { Store } from '../../src/contracts/index.ts'
import { leasesOf, pinScheme, suspectsOf } from '../../src/facts/index.ts'
import { parkedMessage, request, toQueue } from '../../src/testing/sample-records.ts'

const aDay = 86_400_000
export const tenDaysAgo = new Date(Date.now() - 10 * aDay)

/** Puts at least one row into every table that a store has today. */
export async function fillStore<Tx>(store: Store<Tx>): Promise<void> {
  const { inbox, parking, facts, retention, queue, positions } = store
  await store.transaction(async (tx) => {
    await inbox.claim(tx, [
      { ...request('failed'), fingerprint: Uint8Array.of(0, 255) },
      { ...request('old'), born: tenDaysAgo },
      request('timeless'),
      { ...request('young'), born: new Date() },
    ])
    await inbox.update(tx, [
      { ...request('failed'), state: 'parked' },
      { ...request('timeless'), state: 'processed', result: '{"so":"ß"}' },
    ])
    await parking.park(tx, [parkedMessage('failed', { state: 'dead' }), parkedMessage('waiting', { orderKey: 'k1' })])
    await facts.change(tx, [{ name: 'note 1', from: undefined, value: 'since Monday', forMs: undefined }])
    await parking.edit(tx, { key: 'failed' }, { kind: 'mark', redrive: 'r1' }, 1)
    await queue?.send(tx, '>notes', [toQueue('q2')])
    const to = { next: '42', incarnation: 'first' }
    await positions?.move(tx, 'group', [{ source: 'notes', partition: '3', expected: undefined, to }])
  })
  await suspectsOf(store).begin(['m1'])
  await leasesOf(store).acquire('tidying', aDay)
  await pinScheme(store, 'tag-note', 'uuidv7')
  await retention?.raise(100 * aDay)
  await queue?.send(undefined, 'notes', [toQueue('q1', 'k1')])
}
