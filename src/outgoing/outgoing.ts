import type { OutgoingMessage, Store } from '../contracts/index.ts'
import { unpackOutgoing } from '../encoding/packed-message.ts'
import { JustonceError } from '../errors/index.ts'

/** A published message that the broker has refused so often that it is not tried any more by itself. */
export interface DeadOutgoingMessage extends OutgoingMessage {
  readonly attempts: number
  /** What the broker said last. */
  readonly error: string
}

/** What operators do with messages that were published and could not be sent. */
export interface Outgoing {
  /** How many wait to be sent, and how many were given up. */
  count(): Promise<{ readonly pending: number; readonly dead: number }>
  /** Those that were given up, oldest first. */
  dead(limit?: number): Promise<readonly DeadOutgoingMessage[]>
  /** Sends those that were given up again, by their ids or all; resolves to how many those are. */
  retry(ids: readonly string[] | 'all'): Promise<number>
}

export function outgoing(store: Store, wakeRelay: () => void): Outgoing {
  const outbox = () => {
    if (store.outbox !== undefined) return store.outbox
    throw new JustonceError('STORE_CANNOT', { message: `${store.name} has no outbox.` })
  }
  return {
    count: async () => outbox().count(),
    async dead(limit = 100) {
      const found = await outbox().listDead(limit)
      return found.map(({ message, attempts, error }) => ({ ...unpackOutgoing(message), attempts, error }))
    },
    async retry(ids) {
      const revived = await outbox().retryDead(ids === 'all' ? undefined : ids)
      if (revived > 0) wakeRelay()
      return revived
    },
  }
}
