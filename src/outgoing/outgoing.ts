import type { QueueCount, Store } from '../contracts/index.ts'
import { destinationOf, isOutgoing } from '../encoding/outgoing-queue.ts'
import { JustonceError } from '../errors/index.ts'

/** What operators ask about messages that were published and are not sent yet. Those that a broker refused for good are dead letters. */
export interface Outgoing {
  /** How many wait for each destination that has any, whichever app published them. */
  waiting(): Promise<Readonly<Record<string, QueueCount>>>
}

export function outgoing({ name, queue }: Pick<Store, 'name' | 'queue'>): Outgoing {
  return {
    async waiting() {
      if (queue === undefined) throw new JustonceError('STORE_CANNOT', { message: `${name} has no queue.` })
      const names = (await queue.queues()).filter(isOutgoing)
      const counts = await Promise.all(
        names.map(async (each) => [destinationOf(each), await queue.count(each)] as const),
      )
      return Object.fromEntries(counts)
    },
  }
}
