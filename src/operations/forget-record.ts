import type { RecordKey } from '../contracts/index.ts'
import { JustonceError } from '../errors/index.ts'
import { keepAudit } from './audit.ts'
import { checkKey } from './selection.ts'
import type { Site } from './site.ts'
import type { WhoAndWhy } from './types.ts'
import { checkWhoAndWhy } from './who-and-why.ts'

/**
 * Removes the record of a message on purpose, so that it may run again. False if there was none. A renamed handler has
 * records under its other names, too: as long as one of them exists, the message is a duplicate.
 */
export async function forgetRecord<Tx>(site: Site<Tx>, given: RecordKey, whoAndWhy: WhoAndWhy): Promise<boolean> {
  const { by, why } = checkWhoAndWhy(whoAndWhy, 'forget()')
  const key = checkKey(given)
  const { store } = site
  const records = underAllNames(site, key)
  const isForgotten = await store.transaction(async (tx) => {
    if ((await store.inbox.forget(tx, records)) === 0) return false
    await keepAudit(site, tx, { action: 'forget', by, why, subject: key })
    return true
  })
  if (isForgotten) {
    site.changed({ kind: 'record-forgotten' })
    return true
  }
  if ((await store.inbox.find(records)).some((record) => record?.state === 'parked')) {
    throw new JustonceError('RECORD_PARKED', {
      message: `The record of handler ${key.handler} for ${JSON.stringify(key.key)} belongs to a parked message.`,
      details: { ...key },
    })
  }
  return false
}

/** In the order in which they are claimed, so that the two cannot deadlock. */
function underAllNames<Tx>(site: Site<Tx>, { handler, key }: RecordKey): readonly RecordKey[] {
  return [...site.handlers.namesOf(handler)].sort().map((name) => ({ handler: name, key }))
}
