import type { Delivery, IncomingMessage, Message } from '../contracts/index.ts'
import { fingerprintOf } from '../encoding/fingerprint.ts'
import { isJustonceError, JustonceError } from '../errors/index.ts'
import { checkEnvelope, checkKey } from './check-envelope.ts'
import { decodeBody } from './decode-body.ts'
import type { Engine } from './engine.ts'
import type { Handler } from './handler.ts'
import { rememberSentBody } from './identify.ts'
import { describeIssues, type StandardResult, type StandardSchema } from './standard-schema.ts'
import type { Refusal, Run, Work } from './work.ts'

export type Prepared<Tx> =
  | { readonly kind: 'work'; readonly work: Work<Tx> }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | { readonly kind: 'ignored' }

/**
 * Decodes, validates and routes one delivery. Never throws: a message that cannot be handled is refused with its reason.
 * Answers at once where no schema has to be asked: a promise for every message would cost more than the rest of this.
 */
export function prepare<Tx>(engine: Engine<Tx>, delivery: Delivery): Prepared<Tx> | Promise<Prepared<Tx>> {
  try {
    const handlers = handlersFor(engine, delivery.message)
    if (handlers.length === 0) return { kind: 'ignored' }
    checkEnvelope(delivery.message, engine.limits)
    checkIdentity(handlers, delivery.message)
    const schema = engine.schemaOf(delivery.message.type as string)
    const message = decode(delivery.message)
    if (schema !== undefined || handlers.some((handler) => handler.schema !== undefined)) {
      return prepareBySchemas(delivery, message, schema, handlers)
    }
    const fitted = handlers.map((handler) => ({ handler, message, failure: undefined }))
    return { kind: 'work', work: workOf(delivery, fitted, () => fingerprintOf(message.body)) }
  } catch (error) {
    return refused(delivery, error)
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
  return handlers
}

function checkIdentity<Tx>(handlers: readonly Handler<Tx>[], message: IncomingMessage): void {
  if (message.id !== undefined || handlers.every((handler) => handler.identify !== undefined)) return
  throw new JustonceError('MESSAGE_ID_MISSING', {
    message: `A message of type ${message.type} from ${message.source} has no id.`,
  })
}

function decode(incoming: IncomingMessage): Message {
  return {
    id: incoming.id ?? '',
    type: incoming.type as string,
    body: decodeBody(incoming.body),
    headers: incoming.headers,
    key: incoming.key,
    sentAt: incoming.sentAt,
    source: incoming.source,
    position: incoming.position,
  }
}

/** The message of a run as it was when it was prepared. */
export function decodeAgain<Tx>(engine: Engine<Tx>, { handler, work }: Run<Tx>): Message | Promise<Message> {
  const message = decode(work.delivery.message)
  const schema = engine.schemaOf(message.type)
  return schema === undefined && handler.schema === undefined ? message : decodeBySchemas(message, schema, handler)
}

async function decodeBySchemas<Tx>(
  message: Message,
  schema: StandardSchema | undefined,
  handler: Handler<Tx>,
): Promise<Message> {
  const sent = message.body
  const body = schema === undefined ? sent : await validate(schema, sent, `type ${message.type}`)
  const fitted = await fitHandler(handler, withBody(message, body, sent), sent)
  if (fitted.failure !== undefined) throw fitted.failure.error
  return fitted.message
}

/** A message as one handler gets it. */
interface Fitted<Tx> {
  readonly handler: Handler<Tx>
  readonly message: Message
  readonly failure: Run<Tx>['failure']
}

function workOf<Tx>(delivery: Delivery, fitted: readonly Fitted<Tx>[], fingerprintOfBody: () => Uint8Array): Work<Tx> {
  const runs: Run<Tx>[] = []
  const work: Work<Tx> = { delivery, runs }
  let ofBody: Uint8Array | undefined
  for (const { handler, message, failure } of fitted) {
    try {
      const key = keyOf(handler, message, delivery.message)
      let fingerprint: Uint8Array | undefined
      if (handler.fingerprint === 'body') fingerprint = ofBody ??= fingerprintOfBody()
      else if (handler.fingerprint !== 'none') fingerprint = fingerprintOf(handler.fingerprint(message))
      runs.push({ work, handler, message, key, fingerprint, failure })
    } catch (error) {
      // What does not fit the handler's schema need not fit its identify() or fingerprint() either.
      throw failure === undefined ? error : failure.error
    }
  }
  return work
}

async function prepareBySchemas<Tx>(
  delivery: Delivery,
  message: Message,
  schema: StandardSchema | undefined,
  handlers: readonly Handler<Tx>[],
): Promise<Prepared<Tx>> {
  try {
    // Of what was sent, and before any schema has touched it: a default that a schema puts in, or a changed schema,
    // must not make a second copy look like another message.
    const sent = message.body
    const ofBody = handlers.some(({ fingerprint }) => fingerprint === 'body') ? fingerprintOf(sent) : undefined
    const body = schema === undefined ? sent : await validate(schema, sent, `type ${message.type}`)
    const decoded = withBody(message, body, sent)
    const fitted: Fitted<Tx>[] = []
    for (const handler of handlers) fitted.push(await fitHandler(handler, decoded, sent))
    return { kind: 'work', work: workOf(delivery, fitted, () => ofBody as Uint8Array) }
  } catch (error) {
    return refused(delivery, error)
  }
}

/** A message may fit its type and one handler but not another: that is the one handler's failure. */
async function fitHandler<Tx>(handler: Handler<Tx>, message: Message, sent: unknown): Promise<Fitted<Tx>> {
  if (handler.schema === undefined) return { handler, message, failure: undefined }
  try {
    const body = await validate(handler.schema, message.body, `handler ${handler.name}`)
    return { handler, message: withBody(message, body, sent), failure: undefined }
  } catch (error) {
    return { handler, message, failure: { error } }
  }
}

async function validate(schema: StandardSchema, value: unknown, what: string): Promise<unknown> {
  let result: StandardResult<unknown>
  try {
    const pending = schema['~standard'].validate(value)
    result = 'then' in pending ? await pending : pending
  } catch (cause) {
    throw new JustonceError('BODY_CHECK_FAILED', { message: `The schema of ${what} threw: ${String(cause)}.`, cause })
  }
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

function withBody(message: Message, body: unknown, sent: unknown): Message {
  const changed = { ...message, body }
  rememberSentBody(changed, sent)
  return changed
}

function refused<Tx>(delivery: Delivery, error: unknown): Prepared<Tx> {
  return { kind: 'refused', refusal: { delivery, error: asRefusal(error) } }
}

function asRefusal(error: unknown): JustonceError {
  if (isJustonceError(error)) return error
  if (error instanceof RangeError) {
    return new JustonceError('BODY_TOO_DEEP', {
      message: `The body cannot be looked at: ${error.message}.`,
      cause: error,
    })
  }
  // identify() or fingerprint() threw something of its own: without a key nothing can be claimed.
  return new JustonceError('MESSAGE_ID_INVALID', {
    message: `The message could not be identified: ${String(error)}.`,
    cause: error,
  })
}
