import type { Delivery, Transport } from '../../src/contracts/index.ts'
import { type Break, type BrokenTransport, settlesByMessage, toOutgoing } from './broken-transport.ts'

type Retry = (connection: Transport, deliveries: readonly Delivery[], delayMs: number) => Promise<void>

/** Retries are done in a way of their own. */
function retrying(retry: Retry): Break {
  return (connection) => ({
    ...connection,
    settle: (deliveries, settlement) =>
      settlement.kind === 'retry'
        ? retry(connection, deliveries, settlement.delayMs)
        : connection.settle(deliveries, settlement),
  })
}

/** Counts as a new message, and is nowhere in the meantime. */
const sendAnewLater: Retry = async (connection, deliveries, delayMs) => {
  await connection.settle(deliveries, { kind: 'done' })
  setTimeout(() => void connection.publish(deliveries.map(toOutgoing)), delayMs).unref()
}

/** Stays with the connection until then. */
const waitThenRelease: Retry = async (connection, deliveries, delayMs) => {
  setTimeout(() => void connection.settle(deliveries, { kind: 'release' }), delayMs).unref()
}

/** What waits for its delay is gone when the connection is. */
const forgetsDelaysAtTheEnd: Break = (connection) => {
  const delayed = new Set<Delivery>()
  const retry: Retry = async (_, deliveries, delayMs) => {
    for (const each of deliveries) delayed.add(each)
    setTimeout(() => void connection.settle(deliveries, { kind: 'release' }), delayMs).unref()
  }
  return {
    ...connection,
    settle: (deliveries, settlement) =>
      settlement.kind === 'retry'
        ? retry(connection, deliveries, settlement.delayMs)
        : connection.settle(deliveries, settlement),
    async close() {
      await connection.settle([...delayed], { kind: 'done' })
      await connection.close()
    },
  }
}

/** Wrong with what is to come again after a delay. */
export const brokenRetries: readonly BrokenTransport[] = [
  {
    name: 'takes a retry for a release',
    caught: 'retry: one that waits for its delay takes no room and holds up no other',
    break: retrying((connection, deliveries) => connection.settle(deliveries, { kind: 'release' })),
    patienceMs: 1_000,
  },
  {
    name: 'rounds a delay down to seconds',
    caught: 'retry: a message comes again after its delay, and not before',
    break: retrying((connection, deliveries, delayMs) =>
      connection.settle(deliveries, { kind: 'retry', delayMs: delayMs - (delayMs % 1_000) }),
    ),
    patienceMs: 1_000,
  },
  {
    name: 'loses what is to be retried',
    caught: 'retry: a message comes again after its delay, and not before',
    break: retrying((connection, deliveries) => connection.settle(deliveries, { kind: 'done' })),
    patienceMs: 1_000,
  },
  {
    name: 'delays only the first of a bulk',
    caught: 'retry: in bulk, exactly those that were given come again',
    break: retrying(async (connection, deliveries, delayMs) => {
      await connection.settle(deliveries.slice(0, 1), { kind: 'retry', delayMs })
      await connection.settle(deliveries.slice(1), { kind: 'done' })
    }),
    patienceMs: 1_000,
  },
  {
    name: 'sends anew what is to be retried',
    caught: 'retry: every delivery is counted',
    break: retrying(sendAnewLater),
    patienceMs: 1_000,
  },
  {
    name: 'lets what follows overtake a message that waits for its delay',
    caught: 'retry: while one waits for its delay, later ones of its key wait too, and other keys do not',
    break: retrying(sendAnewLater),
    patienceMs: 1_000,
  },
  {
    name: 'brings a key in disorder after a delay',
    caught: 'retry: after the delay its key goes on in order, whoever reads it',
    break: retrying((connection, deliveries, delayMs) => sendAnewLater(connection, deliveries.toReversed(), delayMs)),
    patienceMs: 1_000,
  },
  {
    name: 'keeps a delay in the connection',
    caught: 'retry: closing the connection does not cut the delay short',
    break: retrying(waitThenRelease),
  },
  {
    name: 'holds what waits for its delay',
    caught: 'retry: one that waits for its delay takes no room and holds up no other',
    break: retrying(waitThenRelease),
    patienceMs: 1_000,
  },
  {
    name: 'ends its delays with the connection',
    caught: 'retry: what waits for its delay outlives the connection that settled it',
    break: forgetsDelaysAtTheEnd,
    patienceMs: 1_000,
  },
  {
    name: 'ends its delays with the process',
    caught: 'retry: a consumer that dies while its message waits does not take it along',
    break: forgetsDelaysAtTheEnd,
    patienceMs: 1_000,
  },
  {
    name: 'delays by message, whoever holds it',
    caught: 'retry: settling a delivery of a closed connection delays nothing',
    break: settlesByMessage,
  },
]
