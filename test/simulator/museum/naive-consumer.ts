import type { Delivery, Store } from '../../../src/contracts/index.ts'
import { effect, type Order } from '../handlers.ts'
import type { SimTx } from '../store/sim-tx.ts'
import type { Program } from '../world.ts'

type Environment = Parameters<Program>[0]

/** What a hand-written consumer does with one delivery; it acknowledges by itself. */
export type Handling = (tools: {
  readonly delivery: Delivery
  readonly environment: Environment
  readonly id: string
  /** The effect, through the given transaction. */
  effect(tx: SimTx): Promise<void>
  acknowledge(): Promise<void>
  /** Statements that commit by themselves, as people write them. */
  autocommit<T>(work: (tx: SimTx) => Promise<T>): Promise<T>
}) => Promise<void>

/** The loop of a hand-written consumer: one message at a time; after an error the message is given back. */
export function naiveConsumer(handle: Handling): Program {
  return (environment) => void consume(environment, handle)
}

async function consume(environment: Environment, handle: Handling): Promise<void> {
  const { transport, process } = environment
  const { signal } = new AbortController()
  for await (const deliveries of transport.deliveries({ signal, maxInFlight: 10 })) {
    for (const delivery of deliveries) {
      await handleOne(environment, delivery, handle).catch(async () => {
        await process.clock.sleep(200)
        await transport.settle([delivery], { kind: 'release' }).catch(() => {})
      })
    }
  }
}

async function handleOne(environment: Environment, delivery: Delivery, handle: Handling): Promise<void> {
  const { message } = delivery
  const id = message.id as string
  const order = { ...message, id, type: message.type as string, body: { behaviour: 'good' } as Order }
  await handle({
    delivery,
    environment,
    id,
    effect: (tx) => effect(tx, 'one', order),
    acknowledge: () => environment.transport.settle([delivery], { kind: 'done' }),
    autocommit: (work) => onOwnConnection(environment.store, work),
  })
}

/** A transaction of its own for each piece of work: what "two commits" means. */
function onOwnConnection<T>(store: Store<SimTx>, work: (tx: SimTx) => Promise<T>): Promise<T> {
  return store.transaction((tx) => work(tx))
}
