import assert from 'node:assert/strict'
import type { Delivery, OutgoingMessage } from '../../contracts/index.ts'
import { idsOf, outgoing, startReading } from '../reading.ts'
import type { TransportCase } from '../transport-case.ts'

const keys = ['a', 'b', 'c']

/** `a1 b1 c1 a2 b2 c2 …` */
const interleaved: readonly OutgoingMessage[] = Array.from({ length: 30 }, (_, index) => {
  const key = keys[index % keys.length] as string
  return outgoing(`${key}${Math.floor(index / keys.length) + 1}`, { key })
})

function assertInOrder(deliveries: readonly Delivery[], by: (delivery: Delivery) => string | undefined): void {
  for (const group of new Set(deliveries.map(by))) {
    for (const key of keys) {
      const came = deliveries.filter((each) => by(each) === group && each.message.key === key)
      const sent = interleaved.filter((each) => each.key === key && idsOf(came).includes(each.id))
      assert.deepEqual(
        idsOf(came),
        sent.map(({ id }) => id),
      )
    }
  }
}

export const orderingCases: readonly TransportCase[] = [
  {
    name: 'order: what follows a refused message of its key is not sent, and everything else is',
    needs: ['refusal'],
    async run(context) {
      const transport = await context.connect()
      const bad = outgoing('a2', { key: 'a', ...context.refused })
      const [a, b] = [{ key: 'a' }, { key: 'b' }]
      const messages = [outgoing('a1', a), outgoing('b1', b), bad, outgoing('a3', a), outgoing('b2', b)]
      const free = [outgoing('free'), outgoing('a4', a), outgoing('b3', b)]
      const results = await transport.publish([...messages, ...free])
      assert.deepEqual(
        results.map(({ kind }) => kind),
        ['sent', 'sent', 'refused', 'held', 'sent', 'sent', 'held', 'sent'],
      )
      const taken = await startReading(context, transport).takeUntil(['a1', 'b1', 'b2', 'b3', 'free'])
      assert.equal(taken.length, 5)
    },
  },
  {
    name: 'order: messages of one key are delivered in the order in which they were published',
    needs: ['key-order'],
    async run(context) {
      const transport = await context.connect()
      await transport.publish(interleaved)
      const taken = await startReading(context, transport, 4).takeUntil(interleaved.map(({ id }) => id))
      assert.equal(taken.length, interleaved.length)
      assertInOrder(taken, ({ message }) => message.key)
    },
  },
  {
    name: 'order: released messages are delivered again before the later ones of their key',
    needs: ['key-order'],
    async run(context) {
      const transport = await context.connect()
      await transport.publish(interleaved)
      const reading = startReading(context, transport, 7)
      await transport.settle(await reading.take(7), { kind: 'release' })
      assertInOrder(await reading.takeUntil(interleaved.map(({ id }) => id)), ({ message }) => message.key)
    },
  },
  {
    name: 'order: while one consumer holds a key, no other gets later messages of it',
    needs: ['key-order'],
    async run(context) {
      const [holder, other] = [await context.connect(), await context.connect()]
      await holder.publish([outgoing('a1', { key: 'a' })])
      const holding = startReading(context, holder, 1)
      const held = await holding.take(1)
      // It reads no more; otherwise a broker that pushes would give it what follows.
      await holding.stop()
      await holder.publish([outgoing('a2', { key: 'a' }), outgoing('b1', { key: 'b' })])
      const reading = startReading(context, other)
      const [first] = await reading.take(1)
      assert.equal(first?.message.id, 'b1')
      await holder.settle(held, { kind: 'done' })
      const [second] = await reading.take(1)
      assert.equal(second?.message.id, 'a2')
    },
  },
  {
    name: 'order: messages of one key share a lane and are delivered in the order in which they were published',
    needs: ['lane-order'],
    async run(context) {
      const transport = await context.connect()
      await transport.publish(interleaved)
      const taken = await startReading(context, transport, 4).takeUntil(interleaved.map(({ id }) => id))
      for (const key of keys) {
        const lanes = new Set(taken.filter(({ message }) => message.key === key).map(({ lane }) => lane))
        assert.equal(lanes.size, 1, `key ${key} came in the lanes ${[...lanes]}`)
        assert.notEqual([...lanes][0], undefined)
      }
      assertInOrder(taken, ({ lane }) => lane)
    },
  },
]
