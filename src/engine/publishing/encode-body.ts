import type { Codec } from '../../contracts/index.ts'
import { anyText } from '../../encoding/any-text.ts'
import { JustonceError } from '../../errors/index.ts'

/** The body as it is sent: as JSON if there is no codec. `undefined` if JSON cannot represent it. */
export function encodeBody(value: unknown, type: string, codec: Codec | undefined): Uint8Array | undefined {
  if (codec !== undefined) return encodeWith(codec, value, type)
  const text = JSON.stringify(value) as string | undefined
  return text === undefined ? undefined : Buffer.from(text)
}

function encodeWith(codec: Codec, value: unknown, type: string): Uint8Array {
  let bytes: unknown
  try {
    bytes = codec.encode(value, type)
  } catch (cause) {
    throw new JustonceError('BODY_NOT_ENCODED', {
      message: `The codec of type ${type} could not encode a body: ${anyText(cause)}.`,
      cause,
    })
  }
  // A copy, because the codec may reuse its buffer before this one is written.
  if (bytes instanceof Uint8Array) return new Uint8Array(bytes)
  throw new JustonceError('BODY_NOT_ENCODED', {
    message: `encode() of the codec of type ${type} returned ${bytes instanceof Promise ? 'a promise' : typeof bytes}, not bytes.`,
  })
}
