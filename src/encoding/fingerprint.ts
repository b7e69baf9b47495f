import { hash } from 'node:crypto'
import { canonicalJson } from './canonical-json.ts'

/**
 * Eight bytes of SHA-256: it has to tell two contents under one key apart, not withstand an attacker, and it is stored
 * with every record.
 */
export function fingerprintOf(content: unknown): Uint8Array {
  const text = canonicalJson(content) ?? 'undefined'
  return Uint8Array.prototype.slice.call(hash('sha256', text, 'buffer'), 0, 8)
}

export function sameFingerprint(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  if (a === undefined || b === undefined) return true
  return a.length === b.length && a.every((byte, index) => byte === b[index])
}
