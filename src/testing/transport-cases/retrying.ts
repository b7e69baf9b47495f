import assert from 'node:assert/strict'
import { idsOf, outgoing, outgoingList, remaining, startReading } from '../reading.ts'
import type { TransportCase } from '../transport-case.ts'

/** Short enough to wait for. */
const soon = { kind: 'retry', delayMs: 150 } as const
/** So long that whatever comes of it during a case comes too early. */
const muchLater = { kind: 'retry', delayMs: 3_600_000 } as const

export const retryingCases: readonly TransportCase[] = [
  {
    name: 'retry: a message comes again after its delay, and not before',
    needs: ['delayed-retry'],
    async run(context) {
      const transport = await context.connect()
      await transport.publish([outgoing('m1')])
      const reading = startReading(context, transport)
      const [first] = await reading.take(1)
      const toldAt = performance.now()
      await transport.settle([first!], soon)
      const [second] = await reading.take(1)
      const waitedMs = performance.now() - toldAt
      assert.equal(second?.message.id, 'm1')
      // Clocks that count in milliseconds may round both ends.
      assert.ok(waitedMs >= soon.delayMs - 5, `came after ${waitedMs} ms, told to wait ${soon.delayMs}`)
    },
  },
  {
    name: 'retry: every delivery is counted',
    needs: ['delayed-retry'],
    async run(context) {
      const transport = await context.connect()
      await transport.publish([outgoing('m1')])
      const reading = startReading(context, transport)
      assert.equal(transport.capabilities.deliveryCount, 'count', 'whoever delays attempts has to count them')
      for (const count of [1, 2, 3]) {
        const [delivery] = await reading.take(1)
        assert.equal(delivery?.count, count)
        await transport.settle([delivery!], { kind: 'retry', delayMs: 1 })
      }
    },
  },
  {
    name: 'retry: in bulk, exactly those that were given come again',
    needs: ['delayed-retry'],
    async run(context) {
      const transport = await context.connect()
      await transport.publish(outgoingList(4))
      const reading = startReading(context, transport)
      const taken = await reading.take(4)
      await transport.settle([taken[3]!, taken[1]!], soon)
      await transport.settle([taken[2]!, taken[0]!], { kind: 'done' })
      const again = await reading.take(2)
      assert.deepEqual([...idsOf(again)].sort(), [...idsOf([taken[1]!, taken[3]!])].sort())
      await transport.settle(again, { kind: 'done' })
      await reading.stop()
      await transport.close()
      assert.deepEqual(idsOf(await remaining(context)), [])
    },
  },
  {
    name: 'retry: one that waits for its delay takes no room and holds up no other',
    needs: ['delayed-retry', 'competing'],
    async run(context) {
      const transport = await context.connect()
      await transport.publish(outgoingList(3))
      const reading = startReading(context, transport, 1)
      const [delayed] = await reading.take(1)
      await transport.settle([delayed!], muchLater)
      const others = ['m1', 'm2', 'm3', 'm4'].filter((id) => id !== delayed?.message.id)
      await transport.publish([outgoing('m4')])
      assert.deepEqual([...idsOf(await reading.takeUntil(others))].sort(), others)
      await reading.stop()
      await transport.close()
      assert.deepEqual(idsOf(await remaining(context)), [])
    },
  },
  {
    name: 'retry: what waits for its delay outlives the connection that settled it',
    needs: ['delayed-retry'],
    async run(context) {
      const [settling, other] = [await context.connect(), await context.connect()]
      await settling.publish([outgoing('m1')])
      await settling.settle(await startReading(context, settling).take(1), soon)
      await settling.close()
      const [delivery] = await startReading(context, other).take(1)
      assert.deepEqual([delivery?.message.id, delivery?.count], ['m1', 2])
    },
  },
  {
    name: 'retry: closing the connection does not cut the delay short',
    needs: ['delayed-retry', 'competing'],
    async run(context) {
      const transport = await context.connect()
      await transport.publish([outgoing('m1')])
      await transport.settle(await startReading(context, transport).take(1), muchLater)
      await transport.close()
      assert.deepEqual(idsOf(await remaining(context)), [])
    },
  },
  {
    name: 'retry: a consumer that dies while its message waits does not take it along',
    needs: ['delayed-retry', 'death'],
    async run(context) {
      const mortal = await context.connectMortal!()
      await mortal.transport.publish([outgoing('m1')])
      await mortal.transport.settle(await startReading(context, mortal.transport).take(1), soon)
      await mortal.die()
      const [delivery] = await startReading(context, await context.connect()).take(1)
      assert.deepEqual([delivery?.message.id, delivery?.count], ['m1', 2])
    },
  },
  {
    name: 'retry: settling a delivery of a closed connection delays nothing',
    needs: ['delayed-retry'],
    async run(context) {
      const [earlier, later] = [await context.connect(), await context.connect()]
      await earlier.publish([outgoing('m1')])
      const stale = await startReading(context, earlier).take(1)
      await earlier.close()
      const reading = startReading(context, later)
      const taken = await reading.take(1)
      await earlier.settle(stale, muchLater)
      await later.settle(stale, muchLater)
      await later.settle(taken, { kind: 'release' })
      assert.deepEqual(idsOf(await reading.take(1)), ['m1'])
    },
  },
  {
    name: 'retry: while one waits for its delay, later ones of its key wait too, and other keys do not',
    needs: ['delayed-retry', 'key-order'],
    async run(context) {
      const transport = await context.connect()
      await transport.publish([outgoing('a1', { key: 'a' })])
      const reading = startReading(context, transport)
      await transport.settle(await reading.take(1), muchLater)
      await transport.publish([outgoing('a2', { key: 'a' }), outgoing('b1', { key: 'b' })])
      assert.deepEqual(idsOf(await reading.takeUntil(['b1'])), ['b1'])
      await reading.stop()
      await transport.close()
      assert.deepEqual(idsOf(await remaining(context)), [])
    },
  },
  {
    name: 'retry: after the delay its key goes on in order, whoever reads it',
    needs: ['delayed-retry', 'key-order'],
    async run(context) {
      const [settling, other] = [await context.connect(), await context.connect()]
      await settling.publish(['a1', 'a2', 'a3'].map((id) => outgoing(id, { key: 'a' })))
      const held = await startReading(context, settling, 2).take(2)
      const taking = startReading(context, other).takeUntil(['a1', 'a2', 'a3'])
      await settling.settle(held, soon)
      await settling.close()
      assert.deepEqual(idsOf(await taking), ['a1', 'a2', 'a3'])
    },
  },
]
