import assert from 'node:assert/strict'
import { idsOf, outgoing, outgoingList, remaining, startReading } from '../reading.ts'
import type { TransportCase } from '../transport-case.ts'

export const settlingCases: readonly TransportCase[] = [
  {
    name: 'settle: what was settled as done is never delivered again',
    async run(context) {
      const transport = await context.connect()
      await transport.publish(outgoingList(5))
      const reading = startReading(context, transport)
      for (const delivery of await reading.take(5)) await transport.settle([delivery], { kind: 'done' })
      await reading.stop()
      await transport.close()
      assert.deepEqual(idsOf(await remaining(context)), [])
    },
  },
  {
    name: 'settle: settles in bulk, in any order, and only what it was given',
    async run(context) {
      const transport = await context.connect()
      await transport.publish(outgoingList(6))
      const reading = startReading(context, transport)
      const taken = [...(await reading.take(6))].sort((a, b) =>
        String(a.message.id).localeCompare(String(b.message.id)),
      )
      // The later ones first: an acknowledgement that includes everything before it would lose the rest.
      await transport.settle([taken[5]!, taken[3]!, taken[1]!], { kind: 'done' })
      await reading.stop()
      await transport.close()
      assert.deepEqual([...idsOf(await remaining(context))].sort(), ['m1', 'm3', 'm5'])
    },
  },
  {
    name: 'settle: what is released is delivered again, also to the same reader',
    async run(context) {
      const transport = await context.connect()
      await transport.publish([outgoing('m1')])
      const reading = startReading(context, transport)
      const [first] = await reading.take(1)
      await transport.settle([first!], { kind: 'release' })
      const [second] = await reading.take(1)
      assert.equal(second?.message.id, 'm1')
      assert.notEqual(second, first)
      await transport.settle([second!], { kind: 'done' })
    },
  },
  {
    name: 'settle: settling nothing, or twice, does nothing',
    async run(context) {
      const transport = await context.connect()
      await transport.publish(outgoingList(2))
      const reading = startReading(context, transport)
      const taken = await reading.take(2)
      await transport.settle([], { kind: 'done' })
      await transport.settle(taken.slice(0, 1), { kind: 'done' })
      await transport.settle(taken.slice(0, 1), { kind: 'done' })
      await transport.settle(taken.slice(0, 1), { kind: 'release' })
      await reading.stop()
      await transport.close()
      assert.deepEqual(idsOf(await remaining(context)), idsOf(taken.slice(1)))
    },
  },
  {
    name: 'settle: settling a delivery of a closed connection neither fails nor touches anything',
    async run(context) {
      const [earlier, later] = [await context.connect(), await context.connect()]
      await earlier.publish(outgoingList(3))
      const stale = await startReading(context, earlier).take(3)
      await earlier.close()
      const reading = startReading(context, later)
      const taken = await reading.take(3)
      await earlier.settle(stale, { kind: 'done' })
      await later.settle(stale, { kind: 'done' })
      await later.settle(stale, { kind: 'release' })
      await later.settle(taken, { kind: 'release' })
      assert.deepEqual([...idsOf(await reading.take(3))].sort(), ['m1', 'm2', 'm3'])
    },
  },
]
