import assert from 'node:assert/strict'
import type { Delivery, Transport } from '../../contracts/index.ts'
import { growingAppetite } from '../growing-appetite.ts'
import { idsOf, outgoingList, remaining, startReading } from '../reading.ts'
import type { TransportCase, TransportCaseContext } from '../transport-case.ts'

/** Reads up to five at a time and settles them until all of the expected ids have arrived at any consumer. */
async function work(context: TransportCaseContext, missing: Set<string | undefined>, done: AbortController) {
  const transport = await context.connect()
  const taken: Delivery[] = []
  for await (const deliveries of transport.deliveries({ signal: done.signal, maxInFlight: 5 })) {
    taken.push(...deliveries)
    await transport.settle(deliveries, { kind: 'done' })
    for (const id of idsOf(deliveries)) missing.delete(id)
    if (missing.size === 0) done.abort()
  }
  return taken
}

export const sharingCases: readonly TransportCase[] = [
  {
    name: 'share: two consumers share the messages without overlap',
    async run(context) {
      const messages = outgoingList(100)
      const publisher = await context.connect()
      await publisher.publish(messages)
      const missing = new Set<string | undefined>(messages.map(({ id }) => id))
      const done = new AbortController()
      const impatience = setTimeout(() => done.abort(), context.patienceMs ?? 10_000)
      const taken = await Promise.all([work(context, missing, done), work(context, missing, done)])
      clearTimeout(impatience)
      assert.deepEqual([...missing], [], 'these were delivered to nobody')
      assert.deepEqual([...idsOf(taken.flat())].sort(), messages.map(({ id }) => id).sort())
      assert.deepEqual(idsOf(await remaining(context)), [])
    },
  },
  {
    name: 'share: what one consumer holds is not given to another',
    needs: ['competing'],
    async run(context) {
      const [holder, other] = [await context.connect(), await context.connect()]
      await holder.publish(outgoingList(3))
      const holding = startReading(context, holder, 3)
      const held = await holding.take(3)
      // It reads no more; otherwise a broker that pushes would give it what it releases.
      await holding.stop()
      assert.deepEqual(idsOf(await remaining(context)), [])
      await holder.settle(held, { kind: 'release' })
      assert.deepEqual([...idsOf(await startReading(context, other).take(3))].sort(), ['m1', 'm2', 'm3'])
    },
  },
  {
    name: 'share: as much is delivered as is wanted, however little that grows while nothing is settled',
    async run(context) {
      const transport = await context.connect()
      await transport.publish(outgoingList(20))
      const { appetite, want } = growingAppetite(8)
      const hungry: Transport = {
        ...transport,
        deliveries: (options) => transport.deliveries({ ...options, appetite }),
      }
      const reading = startReading(context, hungry)
      let taken = 0
      // Stuck handlers hold everything that arrived. What is wanted beyond that is for others.
      for (const wanted of [8, 9, 11, 12, 15, 16, 20]) {
        want(wanted)
        while (taken < wanted) taken += (await reading.next()).length
      }
      assert.equal(taken, 20)
    },
  },
]
