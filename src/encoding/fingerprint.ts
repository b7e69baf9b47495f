import { hash } from 'node:crypto'
import { canonicalJson } from './canonical-json.ts'

const fingerprintBytes = 8

/**
 * Eight bytes of SHA-256: it must distinguish two contents under one key, not withstand an attacker, and it is stored
 * with every record.
 */
export function fingerprintOf(content: unknown): Uint8Array {
  // As text, one character per byte: a buffer would be allocated outside the heap, which costs more than the hash.
  const digest = hash('sha256', canonicalJson(content) ?? 'undefined', 'latin1')
  const bytes = new Uint8Array(fingerprintBytes)
  for (let i = 0; i < fingerprintBytes; i++) bytes[i] = digest.charCodeAt(i)
  return bytes
}

export function sameFingerprint(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  if (a === undefined || b === undefined) return true
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}
