import type { RecordKey } from '../contracts/index.ts'
import { JustonceError } from '../errors/index.ts'
import type { OperableEngine } from './operable-engine.ts'
import { checkKey } from './selection.ts'
import { checkSignature } from './signature.ts'
import type { Signature } from './types.ts'

/** Removes the record of a message on purpose, so that it may run again. False: there was none. */
export async function forgetRecord<Tx>(
  engine: OperableEngine<Tx>,
  given: RecordKey,
  signature: Signature,
): Promise<boolean> {
  const { by, why } = checkSignature(signature, 'forget()')
  const key = checkKey(given)
  const { store, recent } = engine
  const isForgotten = await store.transaction(async (tx) => {
    if (!(await store.inbox.forget(tx, key))) return false
    await store.audit.append(tx, [{ action: 'forget', by, why, subject: JSON.stringify(key) }])
    return true
  })
  if (isForgotten) {
    recent.clear()
    return true
  }
  if ((await store.inbox.find(key))?.state === 'parked') {
    throw new JustonceError('RECORD_PARKED', {
      message: `The record of handler ${key.handler} for ${JSON.stringify(key.key)} belongs to a parked message.`,
      details: { ...key },
    })
  }
  return false
}
