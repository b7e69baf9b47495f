import { createHmac, timingSafeEqual } from 'node:crypto'
import { JustonceError } from '../../errors/index.ts'

/** One secret, or several while they are being rotated: any of them is enough. */
export type Secrets = string | readonly string[]

/** Fewer can be guessed, and an empty key verifies what anybody has signed. */
const fewestBytes = 16

/**
 * The keys of all secrets. Each must have at least 16 bytes and no white space around it (the line end of a file, mostly):
 * a request needs only one of them to be let in. Never with a value in an error: it is a secret, and errors are logged.
 */
export function keysIn(
  secrets: Secrets,
  where: string,
  decode: (secret: string) => Uint8Array | undefined = (secret) => Buffer.from(secret),
): readonly Uint8Array[] {
  const list: readonly unknown[] = typeof secrets === 'string' ? [secrets] : secrets
  const refuse = (why: string): never => {
    throw new JustonceError('OPTION_INVALID', { message: `${where} wants ${why}.` })
  }
  if (!Array.isArray(list) || list.length === 0) return refuse('a secret')
  return list.map((secret) => {
    if (typeof secret !== 'string' || secret === '') return refuse('a secret that is not empty')
    if (secret.trim() !== secret) return refuse('a secret without white space at its beginning or end')
    const key = decode(secret) ?? refuse('a secret that is base64, whole and as an encoder writes it')
    if (key.length < fewestBytes)
      return refuse(`a secret of at least ${fewestBytes} bytes, and was given ${key.length}`)
    return key
  })
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

/**
 * The bytes of exactly 32 in hex, as the vendors write it; anything else is no signature. In a second spelling a copy would
 * be a new message to whoever takes the signature for the id.
 */
export function hexSignature(text: string): Uint8Array | undefined {
  return /^[0-9a-f]{64}$/.test(text) ? Buffer.from(text, 'hex') : undefined
}

/** A header may carry more signatures than anyone sends: each costs a comparison, so there is an end to them. */
export const mostSignatures = 20
