import type { Transport } from '../../src/contracts/index.ts'
import type { Workload } from '../transfers/workload.ts'

const atOnce = 500

/** Fills the broker before the clock starts. */
export async function publishAll(transport: Transport, { deliveries }: Pick<Workload, 'deliveries'>): Promise<void> {
  const sentAt = new Date()
  for (let from = 0; from < deliveries.length; from += atOnce) {
    const messages = deliveries
      .slice(from, from + atOnce)
      .map(({ id = '', type = '', key, body, headers }) => ({ id, type, key, body, headers, sentAt }))
    for (const result of await transport.publish(messages)) if (result.kind === 'refused') throw result.error
  }
}
