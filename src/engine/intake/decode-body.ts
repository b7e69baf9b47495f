import { mayHoldInexactNumbers } from '../../encoding/exact-json.ts'
import { JustonceError } from '../../errors/index.ts'

const strict = new TextDecoder('utf-8', { fatal: true })

export interface DecodedBody {
  readonly body: unknown
  /** Its text, where numbers in it may have lost something on the way. */
  readonly inexact: string | undefined
}

/** Parses a body as JSON, refusing what is not JSON or what would poison objects it is merged into. */
export function decodeBody(bytes: Uint8Array): DecodedBody {
  let text: string
  let body: unknown
  try {
    text = strict.decode(bytes)
    body = JSON.parse(text)
  } catch (cause) {
    throw new JustonceError('BODY_NOT_JSON', {
      message: `The body (${bytes.length} bytes, beginning ${preview(bytes)}) is not JSON.`,
      cause,
    })
  }
  // The name can only come out of a text that contains it, plainly or with an escape in it.
  if ((text.includes('__proto__') || text.includes('\\u')) && hasProtoKey(body)) {
    throw new JustonceError('BODY_UNSAFE', { message: 'The body contains a property named __proto__.' })
  }
  return { body, inexact: mayHoldInexactNumbers(text) ? text : undefined }
}

function hasProtoKey(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (Object.hasOwn(value, '__proto__')) return true
  return Object.values(value).some(hasProtoKey)
}

function preview(bytes: Uint8Array): string {
  return JSON.stringify(Buffer.from(bytes.subarray(0, 40)).toString('utf8'))
}
