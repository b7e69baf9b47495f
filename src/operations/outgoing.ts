import type { Store } from '../contracts/index.ts'
import { destinationOf, isOutgoing } from '../encoding/outgoing-queue.ts'
import { JustonceError } from '../errors/index.ts'
import type { OutgoingOperations } from './types.ts'

export function outgoingOperations({ name, queue }: Pick<Store, 'name' | 'queue'>): OutgoingOperations {
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
