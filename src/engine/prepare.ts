import type { Delivery, IncomingMessage, Message } from '../contracts/index.ts'
import { fingerprintOf } from '../encoding/fingerprint.ts'
import { isJustonceError, JustonceError } from '../errors/index.ts'
import { checkEnvelope, checkKey } from './check-envelope.ts'
import { decodeBody } from './decode-body.ts'
import type { Engine } from './engine.ts'
import type { Handler } from './handler.ts'
import { describeIssues, type StandardSchema } from './standard-schema.ts'
import type { Refusal, Run, Work } from './work.ts'

export type Prepared<Tx> =
  | { readonly kind: 'work'; readonly work: Work<Tx> }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | { readonly kind: 'ignored' }

/** Decodes, validates and routes one delivery. Never throws: a message that cannot be handled is refused with its reason. */
export async function prepare<Tx>(engine: Engine<Tx>, delivery: Delivery): Promise<Prepared<Tx>> {
  try {
    checkEnvelope(delivery.message, engine.limits)
    const handlers = handlersFor(engine, delivery.message)
    if (handlers.length === 0) return { kind: 'ignored' }
    const decoded = await decode(engine, delivery.message)
    const runs: Run<Tx>[] = []
    const work: Work<Tx> = { delivery, runs }
    let ofBody: Uint8Array | undefined
    for (const handler of handlers) {
      const { message, failure } = await fitHandler(handler, decoded)
      const key = keyOf(handler, message, delivery.message)
      let fingerprint: Uint8Array | undefined
      if (handler.fingerprint === 'body') fingerprint = ofBody ??= fingerprintOf(decoded.body)
      else if (handler.fingerprint !== 'none') fingerprint = fingerprintOf(handler.fingerprint(message))
      runs.push({ work, handler, message, key, fingerprint, failure })
    }
    return { kind: 'work', work }
  } catch (error) {
    return { kind: 'refused', refusal: { delivery, error: asRefusal(error) } }
  }
}

function handlersFor<Tx>(engine: Engine<Tx>, message: IncomingMessage): readonly Handler<Tx>[] {
  if (message.type === undefined || message.type === '') {
    throw new JustonceError('MESSAGE_TYPE_MISSING', { message: `A message from ${message.source} has no type.` })
  }
  const handlers = engine.handlersOf(message.type)
  if (handlers.length === 0 && engine.unknownTypes === 'dead-letter') {
    throw new JustonceError('TYPE_UNKNOWN', {
      message: `No handler is registered for the type ${JSON.stringify(message.type)} (message ${message.id}).`,
    })
  }
  const identified = handlers.every((handler) => handler.identify !== undefined)
  if (message.id === undefined && !identified) {
    throw new JustonceError('MESSAGE_ID_MISSING', {
      message: `A message of type ${message.type} from ${message.source} has no id.`,
    })
  }
  return handlers
}

async function decode<Tx>(engine: Engine<Tx>, incoming: IncomingMessage): Promise<Message> {
  const schema = engine.schemaOf(incoming.type as string)
  const parsed = decodeBody(incoming.body)
  return {
    id: incoming.id ?? '',
    type: incoming.type as string,
    body: schema === undefined ? parsed : await validate(schema, parsed, `type ${incoming.type}`),
    headers: incoming.headers,
    key: incoming.key,
    sentAt: incoming.sentAt,
    source: incoming.source,
    position: incoming.position,
  }
}

/** A message may fit its type and one handler but not another: that is the one handler's failure. */
async function fitHandler<Tx>(
  handler: Handler<Tx>,
  message: Message,
): Promise<{ message: Message; failure: Run<Tx>['failure'] }> {
  if (handler.schema === undefined) return { message, failure: undefined }
  try {
    const body = await validate(handler.schema, message.body, `handler ${handler.name}`)
    return { message: { ...message, body }, failure: undefined }
  } catch (error) {
    return { message, failure: { error: asRefusal(error) } }
  }
}

async function validate(schema: StandardSchema, value: unknown, what: string): Promise<unknown> {
  const pending = schema['~standard'].validate(value)
  const result = pending instanceof Promise ? await pending : pending
  if (result.issues === undefined) return result.value
  throw new JustonceError('BODY_INVALID', {
    message: `The body does not fit the schema of ${what}: ${describeIssues(result.issues)}.`,
    details: { issues: result.issues },
  })
}

function keyOf<Tx>(handler: Handler<Tx>, message: Message, incoming: IncomingMessage): string {
  if (handler.identify === undefined) return incoming.id as string
  const key = handler.identify(message)
  checkKey(key, `What identify() of handler ${handler.name} returned`)
  return key
}

function asRefusal(error: unknown): JustonceError {
  if (isJustonceError(error)) return error
  // identify() or a schema threw something of its own: without a key nothing can be claimed.
  return new JustonceError('MESSAGE_ID_INVALID', {
    message: `The message could not be identified: ${String(error)}.`,
    cause: error,
  })
}
