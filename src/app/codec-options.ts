import type { Codec } from '../contracts/index.ts'
import { checkFunction, checkOptions, JustonceError } from '../errors/index.ts'
import { checkPattern, RouteTable } from '../outgoing/routes.ts'

/** One codec for all types, or several by type: `{ 'note.created': avro, 'audit.*': bytes }`. Types without a codec are JSON. */
export type CodecOptions = Codec | Readonly<Record<string, Codec>>

export function decideCodecs(given: CodecOptions | undefined): (type: string) => Codec | undefined {
  if (given === undefined) return () => undefined
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new JustonceError('OPTION_INVALID', {
      message: `codec is ${Array.isArray(given) ? 'a list' : String(given)}, but must be a codec, or codecs by type.`,
    })
  if (isCodec(given)) {
    checkCodec(given, 'codec')
    return () => given
  }
  for (const [pattern, codec] of Object.entries(given)) {
    checkPattern(pattern, 'codec')
    checkCodec(codec, `codec[${JSON.stringify(pattern)}]`)
  }
  const table = new RouteTable(given)
  return (type) => table.find(type)
}

/** In a map of codecs, a type named `decode` or `encode` has an object as its value, not a function. */
function isCodec(given: CodecOptions): given is Codec {
  return typeof given.decode === 'function' || typeof given.encode === 'function'
}

function checkCodec(codec: Codec, name: string): void {
  checkOptions(codec, ['contentType', 'decode', 'encode'], name)
  checkFunction(codec.decode, `${name}.decode`)
  checkFunction(codec.encode, `${name}.encode`)
  const { contentType } = codec
  if (contentType === undefined || (typeof contentType === 'string' && contentType !== '')) return
  throw new JustonceError('OPTION_INVALID', {
    message: `${name}.contentType is ${JSON.stringify(contentType)}, but must be text such as application/avro.`,
  })
}
