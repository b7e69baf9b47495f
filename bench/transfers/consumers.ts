import type { Pool } from 'pg'
import type { Transport } from '../../src/contracts/index.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { throwLater } from '../throw-later.ts'
import { transfersApp } from './justonce-consumers.ts'
import { startOnceCallers } from './once-callers.ts'
import {
  bare,
  checkThenInsert,
  type Handle,
  insertFirst,
  insertFirstKeepResult,
  startPlainConsumer,
} from './plain-consumers.ts'
import type { Expected } from './tables.ts'

const byHand = {
  bare,
  'check-then-insert': checkThenInsert,
  'insert-first': insertFirst,
  'insert-first-result': insertFirstKeepResult,
} satisfies Record<string, Handle>

/** What the handler of each takes. */
const takes = { handlers: 'each', interleaved: 'interleaved', batch: 'batch' } as const

type ByHand = keyof typeof byHand

type ByApp = keyof typeof takes

export type ConsumerName = ByHand | ByApp | 'once' | 'once-result'

export interface RunningConsumer {
  stop(): Promise<void>
  /** How often a transaction was undone by a conflict so far, where that is known. */
  conflicts(): number
}

export interface ConsumerOptions {
  readonly pool: Pool
  /**
   * Messages (plain), calls (`once`) or batches (handlers) in flight at once: as many connections are in use. Default: what
   * the app decides, or one for each connection of the pool.
   */
  readonly concurrency?: number
}

/** What the consumer of justonce prefetches; the plain ones get the same. */
export const maxInFlight = 800

export async function startConsumer(
  name: ConsumerName,
  transport: Transport,
  { pool, concurrency }: ConsumerOptions,
): Promise<RunningConsumer> {
  const loops = { pool, concurrency: concurrency ?? pool.options.max, maxInFlight }
  if (isByHand(name)) {
    const { stop } = startPlainConsumer(transport, { ...loops, handle: byHand[name] })
    return { stop, conflicts: () => 0 }
  }
  if (name === 'once' || name === 'once-result') {
    const { stop } = await startOnceCallers(transport, { ...loops, keepsResult: name === 'once-result' })
    return { stop, conflicts: () => 0 }
  }
  const store = postgresStore({ pool })
  const app = transfersApp(transport, { store, concurrency, takes: takes[name] })
  let conflicts = 0
  app.events.listen((event) => {
    if (event.kind === 'rolled-back') conflicts++
    // A benchmark that waits for a store that is down would wait for ever, and nobody would know why.
    else if (event.kind === 'store-down' || event.kind === 'loop-failed') throwLater(event.error)
  })
  await app.start()
  return { stop: () => app.stop(), conflicts: () => conflicts }
}

function isByHand(name: ConsumerName): name is ByHand {
  return name in byHand
}

export function expectedOf(name: ConsumerName): Expected {
  return name === 'bare' ? 'each-delivery-once' : 'each-message-once'
}
