import type { Pool } from 'pg'
import type { Transport } from '../../src/contracts/index.ts'
import { maxInFlight, startConsumer } from '../transfers/consumers.ts'
import { applyAlone } from '../transfers/effect.ts'
import type { Transfer } from '../transfers/workload.ts'
import type { Stopwatch } from './stopwatch.ts'

export const concurrency = 4

/** As many as justonce may have unsettled. */
export const prefetch = maxInFlight

export interface RunningConsumer {
  stop(): Promise<void>
}

/** What a plain consumer does with a message. */
export function applyBody(pool: Pool, id: string, body: Uint8Array): Promise<void> {
  return applyAlone(pool, id, JSON.parse(new TextDecoder().decode(body)) as Transfer)
}

export async function consumeWithJustonce(
  transport: Transport,
  { pool, watch }: { readonly pool: Pool; readonly watch: Stopwatch },
): Promise<RunningConsumer> {
  const watched: Transport = {
    ...transport,
    async *deliveries(options) {
      for await (const deliveries of transport.deliveries(options)) {
        watch.arrived()
        yield deliveries
      }
    },
    async settle(deliveries, settlement) {
      await transport.settle(deliveries, settlement)
      if (settlement.kind === 'done') watch.acknowledged(deliveries.length)
    },
  }
  return await startConsumer('handlers', watched, { pool, concurrency })
}
