import type { Pool } from 'pg'
import type { Transport } from '../../src/contracts/index.ts'
import { transfersApp } from './justonce-consumers.ts'
import { bare, checkThenInsert, startPlainConsumer } from './plain-consumers.ts'
import type { Expected } from './tables.ts'

export type ConsumerName = 'bare' | 'check-then-insert' | 'handlers' | 'batch'

export interface RunningConsumer {
  stop(): Promise<void>
  /** How often a transaction was undone by a conflict so far, where that is told. */
  conflicts(): number
}

export interface ConsumerOptions {
  readonly pool: Pool
  /** Messages (plain) or batches (justonce) in flight at once: as many connections are in use. */
  readonly concurrency: number
}

/** What the consumer of justonce prefetches; the plain ones get the same. */
export const maxInFlight = 800

export async function startConsumer(
  name: ConsumerName,
  transport: Transport,
  { pool, concurrency }: ConsumerOptions,
): Promise<RunningConsumer> {
  if (name === 'bare' || name === 'check-then-insert') {
    const handle = name === 'bare' ? bare : checkThenInsert
    const { stop } = startPlainConsumer(transport, { pool, concurrency, maxInFlight, handle })
    return { stop, conflicts: () => 0 }
  }
  const app = transfersApp(transport, { pool, concurrency, takes: name === 'batch' ? 'batch' : 'each' })
  let conflicts = 0
  app.events.listen((event) => {
    if (event.kind === 'undone') conflicts++
    // A benchmark that waits for a store that is down would wait for ever, and nobody would know why.
    else if (event.kind === 'store-down' || event.kind === 'loop-failed') throwLater(event.error)
  })
  await app.start()
  return { stop: () => app.stop(), conflicts: () => conflicts }
}

export function expectedOf(name: ConsumerName): Expected {
  return name === 'bare' ? 'each-delivery-once' : 'each-message-once'
}

export function throwLater(error: unknown): void {
  setImmediate(() => {
    throw error
  })
}
