import assert from 'node:assert/strict'
import type { PackedMessage, StoreLimits } from '../../contracts/index.ts'
import { isJustonceError } from '../../errors/index.ts'
import { claimAndWrite, parkedMessage } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { failureOf } from '../waiting.ts'

/** What a store declares that it can hold, and what it does with more. */
export const limitCases: readonly StoreCase[] = [
  {
    name: 'limits: a message of exactly the allowed size is kept, byte for byte',
    needs: ['limits'],
    async run({ store }) {
      const message = messageOf((await store.limits?.()) as StoreLimits, 0)
      await store.transaction(async (tx) => {
        await store.parking.park(tx, [parkedMessage('m1', { message, delayMs: 0 })])
        await store.queue?.send(tx, 'notes', [{ message, key: undefined }])
      })
      const [parked] = await store.parking.list()
      assert.ok(isSame(parked?.message, message))
      const [taken] = (await store.queue?.take('notes', { limit: 1, visibilityMs: 60_000 })) ?? []
      assert.ok(store.queue === undefined || isSame(taken?.message, message))
    },
  },
  {
    name: 'limits: a larger message is refused with STORE_CANNOT, and the store still works',
    needs: ['limits'],
    async run(context) {
      const { store } = context
      const limits = (await store.limits?.()) as StoreLimits
      // Besides the message, there is room for its names and its errors, which are short here.
      const message = messageOf(limits, Math.max(1_000_000, limits.messageBytes))
      const kept: ((tx: never) => Promise<void>)[] = [
        (tx) => store.parking.park(tx, [parkedMessage('m1', { message })]),
        async (tx) => await store.queue?.send(tx, 'notes', [{ message, key: undefined }]),
      ]
      for (const keep of kept) {
        if (keep !== kept[0] && store.queue === undefined) continue
        const error = await failureOf(
          store.transaction((tx) => keep(tx as never)),
          'one that is too large',
        )
        assert.ok(isJustonceError(error, 'STORE_CANNOT'), String(error))
        assert.equal(store.classify(error), 'none')
      }
      assert.equal(await claimAndWrite(context, store, 'm1'), undefined)
    },
  },
]

function messageOf({ messageBytes }: StoreLimits, more: number): PackedMessage {
  const envelope = new TextEncoder().encode('{"id":"m1"}')
  const body = new Uint8Array(messageBytes - envelope.length + more)
  for (let at = 0; at < body.length; at++) body[at] = (at * 7) % 256
  return { envelope, body }
}

function isSame(found: PackedMessage | undefined, sent: PackedMessage): boolean {
  return found !== undefined && Buffer.compare(found.body, sent.body) === 0
}
