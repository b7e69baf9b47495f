import assert from 'node:assert/strict'
import type { OutgoingMessage, Transport } from '../../contracts/index.ts'
import { idsOf, outgoing, startReading } from '../reading.ts'
import type { TransportCase, TransportCaseContext } from '../transport-case.ts'

const keys = ['a', 'b', 'c', 'd']

/** `a1 b1 c1 d1 a2 …` */
const messages: readonly OutgoingMessage[] = Array.from({ length: 80 }, (_, index) => {
  const key = keys[index % keys.length] as string
  return outgoing(`${key}${Math.floor(index / keys.length) + 1}`, { key })
})

/** Which consumer holds what, as far as the consumers know. They share it. */
interface Watch {
  readonly holders: Map<string, { readonly consumer: Transport; count: number }>
  readonly done: Map<string, string[]>
  readonly ended: AbortController
  left: number
}

async function consume(consumer: Transport, watch: Watch): Promise<void> {
  for await (const deliveries of consumer.deliveries({ signal: watch.ended.signal, maxInFlight: 5 })) {
    for (const { message } of deliveries) {
      const holder = watch.holders.get(message.key!)
      assert.ok(holder === undefined || holder.consumer === consumer, `${message.id}: its key is with another consumer`)
      if (holder === undefined) watch.holders.set(message.key!, { consumer, count: 1 })
      else holder.count++
    }
    // Gives the other consumer time to receive what it should not.
    await new Promise((resolve) => setImmediate(resolve))
    // Recorded before the broker is notified: from then on, the other may get it before we hear that it is settled.
    for (const { message } of deliveries) {
      const holder = watch.holders.get(message.key!)!
      if (--holder.count === 0) watch.holders.delete(message.key!)
      watch.done.set(message.key!, [...(watch.done.get(message.key!) ?? []), message.id!])
    }
    await consumer.settle(deliveries, { kind: 'done' })
    watch.left -= deliveries.length
    if (watch.left <= 0) watch.ended.abort()
  }
}

/** Holds `a1` and `a2` on a connection, with `a3` behind them. */
async function holdTwoOfThree(context: TransportCaseContext, transport: Transport): Promise<void> {
  await transport.publish(['a1', 'a2', 'a3'].map((id) => outgoing(id, { key: 'a' })))
  assert.deepEqual(idsOf(await startReading(context, transport, 2).take(2)), ['a1', 'a2'])
}

export const sharingKeysCases: readonly TransportCase[] = [
  {
    name: 'order: two consumers never hold the same key at a time, and every key is handled in order',
    needs: ['key-order'],
    async run(context) {
      const [one, other] = [await context.connect(), await context.connect()]
      await one.publish(messages)
      const ended = new AbortController()
      const watch: Watch = { holders: new Map(), done: new Map(), ended, left: messages.length }
      const impatience = setTimeout(() => ended.abort(), context.patienceMs ?? 10_000)
      try {
        await Promise.all([consume(one, watch), consume(other, watch)])
      } finally {
        clearTimeout(impatience)
        ended.abort()
      }
      for (const key of keys) {
        const sent = messages.filter((each) => each.key === key).map(({ id }) => id)
        assert.deepEqual(watch.done.get(key), sent)
      }
    },
  },
  {
    name: 'order: what a closed connection held is delivered to others before the later messages of its key',
    needs: ['key-order'],
    async run(context) {
      const [holder, other] = [await context.connect(), await context.connect()]
      await holdTwoOfThree(context, holder)
      const reading = startReading(context, other)
      const taking = reading.takeUntil(['a1', 'a2', 'a3'])
      await holder.close()
      assert.deepEqual(idsOf(await taking), ['a1', 'a2', 'a3'])
    },
  },
  {
    name: 'order: what a dead consumer held is delivered to others before the later messages of its key',
    needs: ['key-order', 'death'],
    async run(context) {
      const mortal = await context.connectMortal!()
      await holdTwoOfThree(context, mortal.transport)
      const taking = startReading(context, await context.connect()).takeUntil(['a1', 'a2', 'a3'])
      await mortal.die()
      assert.deepEqual(idsOf(await taking), ['a1', 'a2', 'a3'])
    },
  },
]
