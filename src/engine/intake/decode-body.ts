import { mayHoldInexactNumbers } from '../../encoding/exact-json.ts'
import { hasUnsafeKey } from '../../encoding/unsafe-keys.ts'
import { JustonceError } from '../../errors/index.ts'

const strict = new TextDecoder('utf-8', { fatal: true })

export interface DecodedBody {
  readonly body: unknown
  /** The text of the body, if JavaScript numbers may have lost precision. */
  readonly inexact: string | undefined
}

/**
 * Parses a body as JSON. Refuses bodies that are not JSON or that would pollute the prototype of objects they are
 * merged into.
 */
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
  if (hasUnsafeKey(text, body)) {
    throw new JustonceError('BODY_UNSAFE', { message: 'The body contains a property named __proto__.' })
  }
  return { body, inexact: mayHoldInexactNumbers(text) ? text : undefined }
}

function preview(bytes: Uint8Array): string {
  return JSON.stringify(Buffer.from(bytes.subarray(0, 40)).toString('utf8'))
}
