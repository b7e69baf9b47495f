import assert from 'node:assert/strict'
import type { Delivery, Position } from '../../contracts/index.ts'
import { idsOf, outgoing, startReading } from '../reading.ts'
import type { TransportCase, TransportCaseContext } from '../transport-case.ts'

/** All with one key, so that they are in one partition. */
const messages = ['m1', 'm2', 'm3', 'm4'].map((id) => outgoing(id, { key: 'a' }))

type Place = Delivery['place']

/** Sends them and reads them all, with a store whose position the case can set. At first it has none. */
async function readAll(context: TransportCaseContext) {
  const transport = await context.connect()
  await transport.publish(messages)
  let stored: Place
  const reading = startReading(context, transport, 4, async (partitions) => standingAt(stored)(partitions))
  const taken = await reading.take(4)
  const putStoreAfter = ({ place }: Pick<Delivery, 'place'>): void => {
    stored = place
  }
  return { transport, reading, taken, putStoreAfter }
}

/** The answer of a store whose position is after the given place, and which knows no other partition. */
function standingAt(stored: Place): (partitions: readonly { partition: string }[]) => (Position | undefined)[] {
  return (partitions) => partitions.map(({ partition }) => (partition === stored?.partition ? stored.to : undefined))
}

const startsOf = (deliveries: readonly Delivery[]) => deliveries.map(({ place }) => place?.from)
const endsOf = (deliveries: readonly Delivery[]) => deliveries.map(({ place }) => place?.to)

export const positionCases: readonly TransportCase[] = [
  {
    name: 'positions: each delivery begins where the one before it ends, and the first where nothing is stored',
    needs: ['positions'],
    async run(context) {
      const { taken } = await readAll(context)
      assert.deepEqual(idsOf(taken), ['m1', 'm2', 'm3', 'm4'])
      assert.deepEqual(startsOf(taken), [undefined, ...endsOf(taken).slice(0, -1)])
      assert.equal(new Set(endsOf(taken).map((to) => to?.next)).size, 4)
    },
  },
  {
    name: 'positions: reading begins at the position in the store, whatever was settled',
    needs: ['positions'],
    async run(context) {
      const { transport: first, taken } = await readAll(context)
      await first.settle(taken, { kind: 'done' })
      await first.close()
      const restore = standingAt(taken[1]?.place)
      const again = await startReading(context, await context.connect(), 4, async (each) => restore(each)).take(2)
      assert.deepEqual(idsOf(again), ['m3', 'm4'])
      assert.deepEqual(startsOf(again), endsOf(taken).slice(1, 3))
    },
  },
  {
    name: 'positions: what is given back keeps its place',
    needs: ['positions'],
    async run(context) {
      const { transport, reading, taken } = await readAll(context)
      await transport.settle(taken.slice(0, 1), { kind: 'done' })
      await transport.settle(taken.slice(1), { kind: 'release' })
      const again = await reading.take(3)
      assert.deepEqual(
        again.map(({ place }) => place),
        taken.slice(1).map(({ place }) => place),
      )
    },
  },
  {
    name: 'positions: a reread begins at the position that the store has by then',
    needs: ['positions'],
    async run(context) {
      const { transport, reading, taken, putStoreAfter } = await readAll(context)
      putStoreAfter(taken[1]!)
      await transport.positions?.reread(taken.slice(0, 1))
      const again = await reading.take(2)
      assert.deepEqual(idsOf(again), ['m3', 'm4'])
      assert.deepEqual(startsOf(again), endsOf(taken).slice(1, 3))
    },
  },
  {
    name: 'positions: an old reading is not read again, and settling what is left of it does nothing',
    needs: ['positions'],
    async run(context) {
      const { transport, reading, taken, putStoreAfter } = await readAll(context)
      putStoreAfter(taken[1]!)
      await transport.positions?.reread(taken)
      assert.deepEqual(idsOf(await reading.take(2)), ['m3', 'm4'])
      await transport.positions?.reread(taken)
      await transport.settle(taken, { kind: 'release' })
      await transport.publish([outgoing('m5', { key: 'a' })])
      assert.deepEqual(idsOf(await reading.take(1)), ['m5'])
    },
  },
  {
    name: 'positions: what the store has forgotten is delivered again from its beginning, whatever was settled',
    needs: ['positions'],
    async run(context) {
      const { transport: first, taken } = await readAll(context)
      await first.settle(taken, { kind: 'done' })
      await first.close()
      const nowhere = standingAt(undefined)
      const reading = startReading(context, await context.connect(), 4, async (each) => nowhere(each))
      const again = await reading.take(4)
      assert.deepEqual(idsOf(again), ['m1', 'm2', 'm3', 'm4'])
      assert.equal(again[0]?.place?.from, undefined)
    },
  },
  {
    name: 'positions: a store that has gone back is noticed even where nothing is left to read',
    needs: ['positions'],
    async run(context) {
      const { transport, reading, taken, putStoreAfter } = await readAll(context)
      putStoreAfter(taken[3]!)
      await transport.settle(taken, { kind: 'done' })
      putStoreAfter(taken[1]!)
      const again = await reading.take(2)
      assert.deepEqual(idsOf(again), ['m3', 'm4'])
      assert.deepEqual(startsOf(again), endsOf(taken).slice(1, 3))
    },
  },
]
