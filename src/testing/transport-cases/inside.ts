import assert from 'node:assert/strict'
import type { InsideTransaction, OutgoingMessage, Store, Transport } from '../../contracts/index.ts'
import { toQueue } from '../../encoding/packed-message.ts'
import { idsOf, outgoing, outgoingList, remaining, startReading } from '../reading.ts'
import type { TransportCase } from '../transport-case.ts'

interface Inside extends InsideTransaction {
  /** What an app does in its transaction when something is published to the queue of its own store. */
  publish(tx: unknown, messages: readonly OutgoingMessage[]): Promise<void>
  sent(): void
}

/** The part that works inside transactions, and its store. */
function insideOf(transport: Transport): { inside: Inside; store: Store<unknown> } {
  const { inside, queue } = transport
  assert.ok(inside !== undefined && queue !== undefined)
  const store = inside.store as Store<unknown>
  assert.equal(queue.store, store)
  const publish: Inside['publish'] = async (tx, messages) => store.queue?.send(tx, queue.name, messages.map(toQueue))
  return { inside: { ...inside, publish, sent: queue.sent }, store }
}

const undone = new Error('undone on purpose')

export const insideCases: readonly TransportCase[] = [
  {
    name: 'inside: what was published in a transaction is delivered only after its commit',
    needs: ['inside'],
    async run(context) {
      const [transport, reader] = [await context.connect(), await context.connect()]
      const { inside, store } = insideOf(transport)
      const reading = startReading(context, reader)
      let ending = false
      const arrival = reading.next().then((deliveries) => ({ ids: idsOf(deliveries), ending }))
      await store.transaction(async (tx) => {
        await inside.publish(tx, [outgoing('m1')])
        await new Promise((resolve) => setImmediate(resolve))
        ending = true
      })
      inside.sent()
      assert.deepEqual(await arrival, { ids: ['m1'], ending: true })
    },
  },
  {
    name: 'inside: what was published in a transaction that is rolled back is never delivered',
    needs: ['inside'],
    async run(context) {
      const { inside, store } = insideOf(await context.connect())
      const transaction = store.transaction(async (tx) => {
        await inside.publish(tx, outgoingList(3))
        throw undone
      })
      await assert.rejects(transaction, undone)
      assert.deepEqual(idsOf(await remaining(context)), [])
    },
  },
  {
    name: 'inside: what was settled in a transaction that commits is gone',
    needs: ['inside'],
    async run(context) {
      const transport = await context.connect()
      const { inside, store } = insideOf(transport)
      await transport.publish(outgoingList(3))
      const reading = startReading(context, transport)
      const taken = await reading.take(3)
      await store.transaction((tx) => inside.settle(tx, taken, taken))
      inside.forget(taken)
      await reading.stop()
      await transport.close()
      assert.deepEqual(idsOf(await remaining(context)), [])
    },
  },
  {
    name: 'inside: committed makes room for more',
    needs: ['inside'],
    async run(context) {
      const transport = await context.connect()
      const { inside, store } = insideOf(transport)
      await transport.publish(outgoingList(2))
      const reading = startReading(context, transport, 1)
      const first = await reading.take(1)
      const second = reading.next()
      await store.transaction((tx) => inside.settle(tx, first, first))
      inside.forget(first)
      assert.deepEqual([...idsOf(first), ...idsOf(await second)].sort(), ['m1', 'm2'])
    },
  },
  {
    name: 'inside: what was settled in a transaction that is rolled back is still held, and is delivered again when released',
    needs: ['inside'],
    async run(context) {
      const transport = await context.connect()
      const { inside, store } = insideOf(transport)
      await transport.publish(outgoingList(3))
      const reading = startReading(context, transport)
      const taken = await reading.take(3)
      const transaction = store.transaction(async (tx) => {
        await inside.settle(tx, taken, taken)
        throw undone
      })
      await assert.rejects(transaction, undone)
      assert.deepEqual(idsOf(await remaining(context)), [])
      await transport.settle(taken, { kind: 'release' })
      assert.deepEqual([...idsOf(await reading.take(3))].sort(), ['m1', 'm2', 'm3'])
    },
  },
  {
    name: 'inside: settling and publishing commit together or not at all',
    needs: ['inside'],
    async run(context) {
      const transport = await context.connect()
      const { inside, store } = insideOf(transport)
      await transport.publish([outgoing('cause')])
      const reading = startReading(context, transport)
      const [cause] = await reading.take(1)
      const step = async (tx: unknown): Promise<void> => {
        await inside.settle(tx, [cause!], [cause!])
        await inside.publish(tx, [outgoing('effect')])
      }
      await assert.rejects(
        store.transaction(async (tx) => {
          await step(tx)
          throw undone
        }),
        undone,
      )
      await store.transaction(step)
      inside.forget([cause!])
      inside.sent()
      await reading.stop()
      await transport.close()
      assert.deepEqual(idsOf(await remaining(context)), ['effect'])
    },
  },
]
