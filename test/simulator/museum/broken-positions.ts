import type { Delivery, Place, Position, Positions, Transport } from '../../../src/contracts/index.ts'
import { type LogPartition, SimLog } from '../broker/sim-log.ts'
import { realApp } from '../real-app.ts'
import type { SimTx } from '../store/sim-tx.ts'
import type { Program } from '../world.ts'
import { onStore } from './broken-stores.ts'
import type { Exhibit } from './exhibit.ts'

/** The real engine on a store or a transport whose positions do not do what they are for. */
export const brokenPositions: readonly Exhibit[] = [
  {
    name: 'zombies-are-not-fenced',
    flaw: 'A position is stored without being compared: who has lost the partition goes on beside its new owner.',
    caughtAs: 'DOUBLED',
    shape: 'log by position',
    program: onStore((store) => ({
      ...store,
      positions: {
        ...positionsOf(store.positions),
        async move(tx, group, moves) {
          const loaded = await positionsOf(store.positions).load(group, moves)
          const forced = moves.map((move, index) => ({ ...move, expected: loaded[index] }))
          await positionsOf(store.positions).move(tx, group, forced)
          return moves.map(() => undefined)
        },
      },
    })),
  },
  {
    name: 'a-lost-comparison-is-an-error',
    flaw: 'A lost comparison is thrown instead of answered: it is taken for a failure of the messages, and nobody reads them again.',
    caughtAs: 'STUCK',
    shape: 'log by position',
    frozenAt: 'query',
    program: onStore((store) => ({
      ...store,
      positions: {
        ...positionsOf(store.positions),
        async move(tx, group, moves) {
          const answers = await positionsOf(store.positions).move(tx, group, moves)
          if (answers.some((answer) => answer !== undefined)) throw new Error('somebody else has moved the position')
          return answers
        },
      },
    })),
  },
  {
    name: 'positions-outside-the-transaction',
    flaw: 'The position is committed by itself, before the effects: a crash in between loses them.',
    caughtAs: 'LOST',
    shape: 'log by position',
    program: onStore((store) => ({
      ...store,
      positions: {
        ...positionsOf(store.positions),
        move: (_, group, moves) => store.transaction((tx) => positionsOf(store.positions).move(tx, group, moves)),
      },
    })),
  },
  {
    name: 'overtaken-and-never-read-again',
    flaw: 'Who began to read before the last owner had committed loses its comparison, and then waits for ever.',
    caughtAs: 'STUCK',
    shape: 'log by position',
    frozenAt: 'query',
    program: onTransport(({ positions, ...transport }) => ({
      ...transport,
      ...(positions && { positions: { ...positions, reread: async () => {} } }),
    })),
  },
  {
    name: 'a-forgotten-position-is-where-the-group-is',
    flaw: 'A restored backup knows nothing of a partition yet, and the broker is asked instead: what was done since is lost.',
    caughtAs: 'LOST',
    isRestored: true,
    shape: 'log by position',
    program: (environment) => {
      const { broker } = environment
      if (broker instanceof SimLog) for (const partition of broker.partitions) forgetSince(partition)
      realApp(environment)
    },
  },
  {
    name: 'places-guessed-from-the-store',
    flaw: 'A delivery is said to begin where the store stands, not where it was read: one read twice runs twice.',
    caughtAs: 'DOUBLED',
    shape: 'log by position',
    program: ({ store, ...environment }) =>
      onTransport((transport) => ({
        ...transport,
        async *deliveries(options) {
          for await (const deliveries of transport.deliveries(options)) yield await guessed(store.positions, deliveries)
        },
      }))({ store, ...environment }),
  },
]

function forgetSince(partition: LogPartition): void {
  Object.defineProperty(partition, 'since', { configurable: true, get: () => undefined, set: () => {} })
}

function onTransport(breakIt: (transport: Transport) => Transport): Program {
  return (environment) => realApp({ ...environment, transport: breakIt(environment.transport) })
}

function positionsOf(positions: Positions<SimTx> | undefined): Positions<SimTx> {
  return positions as Positions<SimTx>
}

async function guessed(
  positions: Positions<SimTx> | undefined,
  deliveries: readonly Delivery[],
): Promise<readonly Delivery[]> {
  const ends = new Map<string, Position | undefined>()
  for (const delivery of deliveries) {
    const { partition, to } = delivery.place as Place
    if (!ends.has(partition))
      ends.set(partition, (await positionsOf(positions).load('sim', [{ source: 'sim', partition }]))[0])
    Object.assign(delivery, { place: { partition, from: ends.get(partition), to } })
    ends.set(partition, to)
  }
  return deliveries
}
