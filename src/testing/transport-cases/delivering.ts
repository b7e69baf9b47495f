import assert from 'node:assert/strict'
import type { Delivery, Transport } from '../../contracts/index.ts'
import { idsOf, outgoing, outgoingList, startReading } from '../reading.ts'
import type { TransportCase } from '../transport-case.ts'
import { gate } from '../waiting.ts'

const bytesOf = (deliveries: readonly Delivery[]): number =>
  deliveries.reduce((sum, { message }) => sum + message.body.byteLength, 0)

export const deliveringCases: readonly TransportCase[] = [
  {
    name: 'deliver: delivers what was published before anyone read',
    async run(context) {
      const transport = await context.connect()
      await transport.publish(outgoingList(3))
      const taken = await startReading(context, transport).take(3)
      assert.deepEqual([...idsOf(taken)].sort(), ['m1', 'm2', 'm3'])
    },
  },
  {
    name: 'deliver: delivers what another connection publishes while it is being read',
    async run(context) {
      const [reader, publisher] = [await context.connect(), await context.connect()]
      const reading = startReading(context, reader)
      const first = reading.next()
      await publisher.publish([outgoing('m1')])
      assert.deepEqual(idsOf(await first), ['m1'])
      await publisher.publish([outgoing('m2')])
      assert.deepEqual(idsOf(await reading.next()), ['m2'])
    },
  },
  {
    name: 'deliver: reports that the broker was reached, even while there is nothing to deliver',
    async run(context) {
      const transport = await context.connect()
      const connected = gate()
      const first = startReading(context, transport, 100, undefined, connected.open).next()
      assert.equal(await Promise.race([connected.opened, first]), undefined)
      await transport.publish([outgoing('m1')])
      assert.deepEqual(idsOf(await first), ['m1'])
    },
  },
  {
    name: 'deliver: publish returns one result for each message',
    async run(context) {
      const transport = await context.connect()
      const results = await transport.publish(outgoingList(3))
      assert.deepEqual(
        results.map(({ kind }) => kind),
        ['sent', 'sent', 'sent'],
      )
      assert.deepEqual(await transport.publish([]), [])
    },
  },
  {
    name: 'deliver: a first delivery does not look like a redelivery',
    needs: ['count-or-flag'],
    async run(context) {
      const transport = await context.connect()
      await transport.publish([outgoing('m1')])
      const [delivery] = await startReading(context, transport).take(1)
      assert.notEqual(delivery?.redelivered, true)
      if (transport.capabilities.deliveryCount === 'count') assert.equal(delivery?.count, 1)
    },
  },
  {
    name: 'deliver: at most maxInFlight deliveries are unsettled, and each settled one makes room',
    async run(context) {
      const transport = await context.connect()
      await transport.publish(outgoingList(10))
      const reading = startReading(context, transport, 3)
      const unsettled = [...(await reading.take(3))]
      const seen = new Set(idsOf(unsettled))
      while (seen.size < 10) {
        // Requested before there is room. A transport that answers too early delivers more than fits.
        const next = reading.next()
        await transport.settle(unsettled.splice(0, 1), { kind: 'done' })
        unsettled.push(...(await next))
        assert.ok(unsettled.length <= 3, `${unsettled.length} deliveries are unsettled`)
        for (const id of idsOf(unsettled)) seen.add(id)
      }
    },
  },
  {
    name: 'deliver: no more bytes are unsettled than maxBytes, except for one message, and each settled one makes room',
    needs: ['byte-limit'],
    async run(context) {
      const transport = await context.connect()
      const sizes = [3, 3, 3, 3, 3, 50, 3, 3, 3, 3, 3, 3].map((thousands) => thousands * 1_000)
      // Each by itself: where messages are sent together, a log delivers them together.
      for (const [place, size] of sizes.entries())
        await transport.publish([outgoing(`m${place}`, { body: new Uint8Array(size) })])
      const maxBytes = 10_000
      const deliveries: Transport['deliveries'] = (given) => transport.deliveries({ ...given, maxBytes })
      const reading = startReading(context, { ...transport, deliveries })
      const unsettled: Delivery[] = []
      const seen = new Set<string | undefined>()
      while (seen.size < sizes.length) {
        const next = reading.next()
        do await transport.settle(unsettled.splice(0, 1), { kind: 'done' })
        while (bytesOf(unsettled) >= maxBytes)
        unsettled.push(...(await next))
        for (const id of idsOf(unsettled)) seen.add(id)
        const before = bytesOf(unsettled.slice(0, -1))
        assert.ok(before < maxBytes, `${before} bytes were unsettled when another message was delivered`)
      }
    },
  },
  {
    name: 'deliver: of 1,000 messages with 300 duplicates, none is missing',
    async run(context) {
      const transport = await context.connect()
      const ids = Array.from({ length: 1_000 }, (_, index) => `m${index}`)
      const twice = ids.flatMap((id, index) => (index % 10 < 3 ? [id, id] : [id]))
      for (let from = 0; from < twice.length; from += 130) {
        await transport.publish(twice.slice(from, from + 130).map((id) => outgoing(id)))
      }
      const taken = await startReading(context, transport, 64).takeUntil(ids)
      assert.deepEqual([...new Set(idsOf(taken))].sort(), [...ids].sort())
    },
  },
]
