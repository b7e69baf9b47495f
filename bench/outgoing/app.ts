import type { Pool } from 'pg'
import type { Publisher } from '../../src/contracts/index.ts'
import { type Duty, justonce, messages } from '../../src/index.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { throwLater } from '../throw-later.ts'
import { applyTransfer } from '../transfers/effect.ts'
import { type Prefetched, prefetched } from '../transfers/prefetched.ts'
import { type Transfer, transferType } from '../transfers/workload.ts'

export const publishedType = 'transfer.done'

/** A broker that takes everything at once: what is measured is our side. */
export function countingBroker() {
  const sentAt = new Map<string, number>()
  let count = 0
  let onSent = (): void => {}
  const publisher: Publisher = {
    destination: 'events',
    async publish(sent) {
      const now = performance.now()
      for (const { id } of sent) sentAt.set(id, now)
      count += sent.length
      onSent()
      return sent.map(() => ({ kind: 'sent' as const }))
    },
    async close() {},
  }
  const untilSent = (wanted: number): Promise<void> =>
    new Promise((resolve) => {
      onSent = () => {
        if (count >= wanted) resolve()
      }
      onSent()
    })
  return { publisher, sentAt, untilSent }
}

interface AppSetup {
  readonly pool: Pool
  readonly concurrency: number
  readonly publisher: Publisher
  readonly publishes: boolean
  readonly only?: readonly Duty[]
  /** Called with the id of what was published, when its transaction has committed. */
  committed?(id: string): void
}

/** The transfers app, which publishes a message for each transfer, or none. */
export function outgoingApp({ pool, concurrency, publisher, publishes, only, committed }: AppSetup) {
  const source: Prefetched = prefetched()
  const app = justonce({
    store: postgresStore({ pool }),
    from: source,
    to: { events: publisher },
    concurrency,
    messages: messages<{ [transferType]: Transfer; [publishedType]: { of: string } }>(),
    ...(only && { only }),
  })
  app.on(transferType, 'apply-transfer', async (message, { tx, publish, afterCommit }) => {
    await applyTransfer(tx, message.id, message.body)
    if (!publishes) return
    const id = await publish(publishedType, { of: message.id }, { key: String(message.body.account) })
    if (committed !== undefined) afterCommit(() => committed(id))
  })
  app.events.listen((event) => {
    if (event.kind === 'store-down' || event.kind === 'loop-failed') throwLater(event.error)
  })
  return { app, source }
}
