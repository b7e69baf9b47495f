import { inTime } from '../../clock/index.ts'
import type { Clock, Codec, IncomingMessage } from '../../contracts/index.ts'
import { anyText } from '../../encoding/any-text.ts'
import { JustonceError } from '../../errors/index.ts'
import { isThenable } from '../is-thenable.ts'

/** The same as the default time limit of a handler. */
const withinMs = 30_000

/** The body that a codec decodes; a promise only if the codec returns one. */
export function decodeWith(clock: Clock, codec: Codec, incoming: IncomingMessage): unknown {
  // A copy, because the received bytes must stay unchanged even if a handler changes what it is given.
  const bytes = new Uint8Array(incoming.body)
  let decoded: unknown
  try {
    decoded = codec.decode(bytes, { ...incoming, body: bytes })
  } catch (cause) {
    throw notDecoded(incoming, anyText(cause), cause)
  }
  return isThenable(decoded) ? awaited(clock, incoming, decoded) : decoded
}

async function awaited(clock: Clock, incoming: IncomingMessage, decoded: PromiseLike<unknown>): Promise<unknown> {
  let answer: { readonly body: unknown } | undefined
  try {
    answer = await inTime(
      Promise.resolve(decoded).then((body) => ({ body })),
      { clock, withinMs },
    )
  } catch (cause) {
    throw notDecoded(incoming, anyText(cause), cause)
  }
  if (answer === undefined) throw notDecoded(incoming, `it has not answered within ${withinMs} ms`)
  return answer.body
}

function notDecoded({ type, body }: IncomingMessage, why: string, cause?: unknown): JustonceError {
  return new JustonceError('BODY_NOT_DECODED', {
    message: `The codec of type ${type} could not decode a body of ${body.length} bytes: ${why}.`,
    cause,
  })
}
