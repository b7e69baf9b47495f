import assert from 'node:assert/strict'
import { idsOf, outgoing, outgoingList, remaining, startReading } from '../reading.ts'
import type { TransportCase } from '../transport-case.ts'

export const endingCases: readonly TransportCase[] = [
  {
    name: 'end: abort ends an iteration that waits for messages',
    async run(context) {
      const transport = await context.connect()
      const reading = startReading(context, transport)
      await transport.publish([outgoing('m1')])
      await transport.settle(await reading.take(1), { kind: 'done' })
      const waiting = reading.next().catch((error: unknown) => error)
      assert.deepEqual(await reading.stop(), [])
      assert.match(String(await waiting), /the iteration ended/)
    },
  },
  {
    name: 'end: abort ends an iteration that waits for room',
    async run(context) {
      const transport = await context.connect()
      await transport.publish(outgoingList(3))
      const reading = startReading(context, transport, 1)
      await reading.take(1)
      const waiting = reading.next().catch((error: unknown) => error)
      assert.deepEqual(await reading.stop(), [])
      assert.match(String(await waiting), /the iteration ended/)
    },
  },
  {
    name: 'end: an iteration whose signal is already aborted ends without a delivery',
    async run(context) {
      const transport = await context.connect()
      await transport.publish(outgoingList(3))
      for await (const deliveries of transport.deliveries({ signal: AbortSignal.abort(), maxInFlight: 10 })) {
        assert.fail(`delivered ${idsOf(deliveries)}`)
      }
      await transport.close()
      assert.equal((await remaining(context)).length, 3)
    },
  },
  {
    name: 'end: after an abort, others get the rest at once',
    needs: ['competing'],
    async run(context) {
      const [stopped, other] = [await context.connect(), await context.connect()]
      await stopped.publish(outgoingList(10))
      const reading = startReading(context, stopped, 4)
      const held = [...(await reading.take(4))]
      held.push(...(await reading.stop()))
      const rest = await startReading(context, other).take(10 - held.length)
      assert.deepEqual(
        [...idsOf([...held, ...rest])].sort(),
        outgoingList(10)
          .map(({ id }) => id)
          .sort(),
      )
    },
  },
  {
    name: 'end: what was delivered before an abort can still be settled',
    async run(context) {
      const transport = await context.connect()
      await transport.publish(outgoingList(2))
      const reading = startReading(context, transport)
      const held = await reading.take(2)
      await reading.stop()
      await transport.settle(held.slice(0, 1), { kind: 'done' })
      await transport.settle(held.slice(1), { kind: 'release' })
      assert.deepEqual(idsOf(await remaining(context)), idsOf(held.slice(1)))
    },
  },
  {
    name: 'end: close ends the iterations and gives back what they held',
    async run(context) {
      const transport = await context.connect()
      await transport.publish(outgoingList(3))
      const reading = startReading(context, transport)
      await reading.take(3)
      const waiting = reading.next().catch((error: unknown) => error)
      await transport.close()
      assert.match(String(await waiting), /the iteration ended/)
      assert.deepEqual([...idsOf(await remaining(context))].sort(), ['m1', 'm2', 'm3'])
    },
  },
  {
    name: 'end: what can no longer be settled says so when its connection is closed, and not before',
    async run(context) {
      const transport = await context.connect()
      await transport.publish(outgoingList(3))
      const reading = startReading(context, transport)
      const held = await reading.take(3)
      await transport.settle(held.slice(0, 1), { kind: 'done' })
      const before = held.map(({ ended }) => ended?.aborted)
      await reading.stop()
      await transport.close()
      const after = held.map(({ ended }) => ended?.aborted)
      assert.ok(!before.includes(true), 'a delivery said that it had ended while it could be settled')
      assert.ok(!after.includes(false), 'a delivery of a closed connection does not say that it has ended')
    },
  },
  {
    name: 'end: what a dead consumer held is delivered again, marked as a redelivery',
    needs: ['death'],
    async run(context) {
      const mortal = await context.connectMortal!()
      await mortal.transport.publish(outgoingList(3))
      await startReading(context, mortal.transport).take(3)
      await mortal.die()
      const survivor = await context.connect()
      const taken = await startReading(context, survivor).take(3)
      assert.deepEqual([...idsOf(taken)].sort(), ['m1', 'm2', 'm3'])
      const { deliveryCount } = survivor.capabilities
      for (const { count, redelivered } of taken) {
        if (deliveryCount === 'count') assert.equal(count, 2)
        if (deliveryCount !== 'none') assert.equal(redelivered, true)
      }
    },
  },
]
