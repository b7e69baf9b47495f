import { createHmac, timingSafeEqual } from 'node:crypto'
import { JustonceError } from '../../errors/index.ts'

/** One secret, or several while they are being rotated: any of them is enough. */
export type Secrets = string | readonly string[]

export function secretsIn(secrets: Secrets, where: string): readonly string[] {
  const list = typeof secrets === 'string' ? [secrets] : secrets
  const usable = Array.isArray(list) && list.length > 0 && list.every((each) => typeof each === 'string' && each !== '')
  // Never with the value: it is a secret, and errors are logged.
  if (!usable) throw new JustonceError('OPTION_INVALID', { message: `${where} wants a secret that is not empty.` })
  return list
}

/**
 * Whether one of the signatures is the HMAC SHA-256 of these parts under one of the keys. All of them are compared, in
 * constant time, so that how long it takes says nothing about which one was nearly right.
 */
export function isSigned(
  parts: readonly (string | Uint8Array)[],
  keys: readonly (string | Uint8Array)[],
  signatures: readonly Uint8Array[],
): boolean {
  let found = false
  for (const key of keys) {
    const hmac = createHmac('sha256', key)
    for (const part of parts) hmac.update(part)
    const expected = hmac.digest()
    for (const signature of signatures) {
      if (signature.length === expected.length && timingSafeEqual(signature, expected)) found = true
    }
  }
  return found
}

/** The bytes of exactly 32 in hex; anything else is no signature. */
export function hexSignature(text: string): Uint8Array | undefined {
  return /^[0-9a-f]{64}$/i.test(text) ? Buffer.from(text, 'hex') : undefined
}

/** A header may carry more signatures than anyone sends: each costs a comparison, so there is an end to them. */
export const mostSignatures = 20
