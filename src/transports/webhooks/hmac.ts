import { createHmac, timingSafeEqual } from 'node:crypto'
import { JustonceError } from '../../errors/index.ts'

/** One secret, or several while they are being rotated. A request needs to match only one of them. */
export type Secrets = string | readonly string[]

/** Shorter keys can be guessed, and with an empty key anyone can sign. */
const fewestBytes = 16

/**
 * The keys of all secrets. Each must have at least 16 bytes and no surrounding white space (usually the line end of a file),
 * because one weak secret is enough to let a request in. Errors never contain the value: it is a secret, and errors are logged.
 */
export function keysIn(
  secrets: Secrets,
  where: string,
  decode: (secret: string) => Uint8Array | undefined = (secret) => Buffer.from(secret),
): readonly Uint8Array[] {
  const list: readonly unknown[] = typeof secrets === 'string' ? [secrets] : secrets
  const refuse = (why: string): never => {
    throw new JustonceError('OPTION_INVALID', { message: `${where} needs ${why}.` })
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
 * Whether one of the signatures is the HMAC SHA-256 of these parts under one of the keys. All of them are compared, in constant
 * time, so the duration does not reveal which one was nearly right.
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
 * The 32 bytes of a signature in lower-case hex, as the vendors write it. Anything else is no signature: with a second
 * spelling, a duplicate would be a new message for users who take the signature as the id.
 */
export function hexSignature(text: string): Uint8Array | undefined {
  return /^[0-9a-f]{64}$/.test(text) ? Buffer.from(text, 'hex') : undefined
}

/** Each signature in a header costs a comparison, so there is a limit, well above what vendors send. */
export const mostSignatures = 20
