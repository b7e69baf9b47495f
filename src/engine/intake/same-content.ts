import type { InboxRecord } from '../../contracts/index.ts'
import { fingerprintOf, sameFingerprint } from '../../encoding/fingerprint.ts'
import type { Run } from '../items.ts'
import { decodeBody } from './decode-body.ts'
import { contentOfBytes, contentOfJson } from './identify.ts'

/**
 * Whether a record belongs to this message, and not to another one under the same key. Bodies with a codec are compared by their
 * bytes, and others as JSON. A record from before a codec was added or removed is compared the other way.
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

/** If the bytes are not JSON, returns a fingerprint that no record can have. */
function ofJson(bytes: Uint8Array): Uint8Array {
  try {
    return fingerprintOf(contentOfJson(decodeBody(bytes)))
  } catch {
    return new Uint8Array()
  }
}
