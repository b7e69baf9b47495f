import { destinationOf, isOutgoing } from '../encoding/outgoing-queue.ts'
import { JustonceError } from '../errors/index.ts'
import { keepAudit } from './audit.ts'
import { cancelDelayed, listDelayed } from './delayed.ts'
import { listOutgoing } from './outgoing-messages.ts'
import type { OutgoingOperations } from './outgoing-types.ts'
import type { Site } from './site.ts'
import { checkWhoAndWhy } from './who-and-why.ts'

export function outgoingOperations<Tx>(site: Site<Tx>): OutgoingOperations {
  const { store } = site
  const { name, queue } = store
  return {
    async waiting() {
      if (queue === undefined) throw new JustonceError('STORE_CANNOT', { message: `${name} has no queue.` })
      const names = (await queue.queues()).filter(isOutgoing)
      const counts = await Promise.all(
        names.map(async (each) => [destinationOf(each), await queue.count(each)] as const),
      )
      return Object.fromEntries(counts)
    },
    list: async (destination, page = {}) => await listOutgoing(store, destination, page),
    delayed: async (filter = {}, page = {}) => await listDelayed(store, filter, page),
    async cancel(id, whoAndWhy) {
      const { by, why } = checkWhoAndWhy(whoAndWhy, 'cancel()')
      return await store.transaction(async (tx) => {
        const isCancelled = await cancelDelayed(store, tx, id)
        if (isCancelled) await keepAudit(site, tx, { action: 'cancel', by, why, subject: { id } })
        return isCancelled
      })
    },
  }
}
