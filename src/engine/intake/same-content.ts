import type { InboxRecord } from '../../contracts/index.ts'
import { fingerprintOf, sameFingerprint } from '../../encoding/fingerprint.ts'
import type { Run } from '../items.ts'
import { decodeBody } from './decode-body.ts'
import { contentOfBytes, contentOfJson } from './identify.ts'

/**
 * Whether a record is of this message, and not of another one under its key. What has a codec is compared by its bytes, and other
 * bodies as JSON: a record from before a codec came or went is compared in the other way.
 */
export function isOfSameContent<Tx>(
  { fingerprint: known }: Pick<InboxRecord, 'fingerprint'>,
  { fingerprint, handler, delivery }: Pick<Run<Tx>, 'fingerprint' | 'handler' | 'delivery'>,
): boolean {
  if (sameFingerprint(known, fingerprint)) return true
  if (handler.fingerprint !== 'body') return false
  const { body } = delivery.message
  return sameFingerprint(known, fingerprintOf(contentOfBytes(body))) || sameFingerprint(known, ofJson(body))
}

/** Of what is no JSON: nothing that a record could have. */
function ofJson(bytes: Uint8Array): Uint8Array {
  try {
    return fingerprintOf(contentOfJson(decodeBody(bytes)))
  } catch {
    return new Uint8Array()
  }
}
