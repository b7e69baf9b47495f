import type { PackedMessage, StoredParkedMessage } from '../contracts/index.ts'
import { unpackMessage } from '../encoding/packed-message.ts'
import { unrouted } from '../encoding/unrouted.ts'
import type { Engine } from '../engine/engine.ts'
import { prepare } from '../engine/intake/prepare.ts'
import { isRowOf, rowKeyOf } from '../engine/items.ts'
import { encodeBody } from '../engine/publishing/encode-body.ts'
import { JustonceError } from '../errors/index.ts'

/** A dead letter's message with another body, checked as the engine will check it. Rejects if it could not be handled. */
export async function editedMessage<Tx>(
  engine: Engine<Tx>,
  letter: StoredParkedMessage,
  body: unknown,
): Promise<PackedMessage> {
  const edited: PackedMessage = { envelope: letter.message.envelope, body: encode(engine, letter.type, body) }
  const prepared = await prepare(engine, { message: unpackMessage(edited) }, { letter })
  if (prepared.kind === 'refused') throw invalid(prepared.refusal.error.message, prepared.refusal.error)
  const own = engine.handlerNamed(letter.handler)
  const runs = prepared.kind === 'work' ? prepared.work.runs : []
  const concerned = letter.handler === unrouted ? runs : runs.filter(({ handler }) => handler === own)
  if (concerned.length === 0) throw invalid(`Handler ${letter.handler} is not registered for ${letter.type} here.`)
  for (const run of concerned) {
    const { handler, failure } = run
    const key = rowKeyOf(run)
    if (failure !== undefined) throw invalid(`Handler ${handler.name} cannot take it.`, failure.error)
    // Under another key it would not be recognised. A message that never had its own key may get one.
    if (!isRowOf(letter, key) && letter.handler !== unrouted && letter.reason !== 'KEY_REUSED')
      throw invalid(
        `With it, identify() of handler ${handler.name} answers ${JSON.stringify(key)} instead of ${JSON.stringify(letter.key)}.`,
      )
  }
  return edited
}

function encode<Tx>({ codecOf }: Engine<Tx>, type: string, body: unknown): Uint8Array {
  if (body instanceof Uint8Array) return body
  let bytes: Uint8Array | undefined
  try {
    bytes = encodeBody(body, type, codecOf(type))
  } catch (cause) {
    throw invalid('It cannot be encoded.', cause)
  }
  if (bytes === undefined) throw invalid(`A ${typeof body} cannot be written as JSON.`)
  return bytes
}

function invalid(why: string, cause?: unknown): JustonceError {
  return new JustonceError('EDIT_INVALID', { message: `The edited body cannot be used: ${why}`, cause })
}
