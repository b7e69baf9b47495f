import type { OutgoingMessage, PublishResult } from '../../../src/contracts/index.ts'
import { SimError } from '../database/sim-error.ts'
import { Link, type Network } from '../link.ts'
import type { SimProcess } from '../process.ts'

/** What every simulated broker can tell of messages that were sent to it. */
export interface Published {
  readonly isDown: boolean
  readonly published: Map<string, { count: number; message: OutgoingMessage }>
}

/** Sends on a connection of its own, which is closed after it. */
export async function publishTo(
  broker: Published,
  process: SimProcess,
  network: Network,
  messages: readonly OutgoingMessage[],
): Promise<PublishResult[]> {
  if (broker.isDown) throw new SimError('connection-lost', 'the broker is down')
  const link = new Link(process, network)
  try {
    return await link.call('publish', () =>
      messages.map((message) => {
        const known = broker.published.get(message.id)
        if (known === undefined) broker.published.set(message.id, { count: 1, message })
        else known.count++
        return { kind: 'sent' as const }
      }),
    )
  } finally {
    link.lose('closed')
  }
}
