import { inTime, type Timed } from '../../clock/index.ts'
import type { Clock, IncomingMessage, Message } from '../../contracts/index.ts'
import { anyText } from '../../encoding/any-text.ts'
import { JustonceError } from '../../errors/index.ts'
import type { Engine } from '../engine.ts'
import type { Handler } from '../handler.ts'
import { isThenable } from '../is-thenable.ts'
import type { Run } from '../items.ts'
import { decodeBody } from './decode-body.ts'
import { decodeWith } from './decode-with.ts'
import { rememberSentBody, rememberSentBytes, rememberSentText, sentBody } from './identify.ts'
import { describeIssues, type StandardResult, type StandardSchema } from './standard-schema.ts'

export type DecodingSite = Pick<Engine<never>, 'clock' | 'codecOf'>

/** Returns a promise only if a codec does. */
export function decodeMessage({ clock, codecOf }: DecodingSite, incoming: IncomingMessage): Message | Promise<Message> {
  const codec = codecOf(incoming.type as string)
  if (codec === undefined) {
    const { body, inexact } = decodeBody(incoming.body)
    const message = messageWith(incoming, body)
    if (inexact !== undefined) rememberSentText(message, inexact)
    return message
  }
  const decoded = decodeWith(clock, codec, incoming)
  return isThenable(decoded)
    ? (decoded.then((body) => fromBytes(incoming, body)) as Promise<Message>)
    : fromBytes(incoming, decoded)
}

function fromBytes(incoming: IncomingMessage, body: unknown): Message {
  const message = messageWith(incoming, body)
  rememberSentBytes(message, incoming.body)
  return message
}

function messageWith(incoming: IncomingMessage, body: unknown): Message {
  return {
    id: incoming.id ?? '',
    type: incoming.type as string,
    body,
    headers: incoming.headers,
    key: incoming.key,
    sentAt: incoming.sentAt,
    expiresAt: incoming.expiresAt,
    source: incoming.source,
    position: incoming.position,
  }
}

/** Decodes the message of a run again, as it was when it was prepared. */
export function decodeAgain<Tx>(engine: Engine<Tx>, { handler, delivery }: Run<Tx>): Message | Promise<Message> {
  const message = decodeMessage(engine, delivery.message)
  const schema = engine.schemaOf(delivery.message.type as string)
  return schema === undefined && handler.schema === undefined
    ? message
    : decodeBySchemas(engine, message, schema, handler)
}

async function decodeBySchemas<Tx>(
  { clock }: Engine<Tx>,
  decoding: Message | Promise<Message>,
  schema: StandardSchema | undefined,
  handler: Handler<Tx>,
): Promise<Message> {
  const message = await decoding
  const fitted = await fitHandler(clock, handler, await fitType(clock, schema, message), sentBody(message))
  if (fitted.failure !== undefined) throw fitted.failure.error
  return fitted.message
}

/** A message as one handler gets it. */
export interface Fitted<Tx> {
  readonly handler: Handler<Tx>
  readonly message: Message
  readonly failure: Run<Tx>['failure']
}

/** The message with the body that the schema of its type returns; rejects if the body does not fit. */
export async function fitType(clock: Clock, schema: StandardSchema | undefined, message: Message): Promise<Message> {
  if (schema === undefined) return message
  const sent = sentBody(message)
  const timed = { clock, withinMs: ofTypeWithinMs }
  return withBody(message, await validate(timed, schema, message.body, `type ${message.type}`), sent)
}

/** The same as the default time limit of a handler. */
const ofTypeWithinMs = 30_000

/** A message may fit its type and one handler but not another: that is a failure of that other handler only. */
export async function fitHandler<Tx>(
  clock: Clock,
  handler: Handler<Tx>,
  message: Message,
  sent: unknown,
): Promise<Fitted<Tx>> {
  if (handler.schema === undefined) return { handler, message, failure: undefined }
  try {
    const timed = { clock, withinMs: handler.timeoutMs }
    const body = await validate(timed, handler.schema, message.body, `handler ${handler.name}`)
    return { handler, message: withBody(message, body, sent), failure: undefined }
  } catch (error) {
    return { handler, message, failure: { error } }
  }
}

async function validate(timed: Timed, schema: StandardSchema, value: unknown, what: string): Promise<unknown> {
  let result: StandardResult<unknown> | undefined
  try {
    const pending = schema['~standard'].validate(value)
    result = 'then' in pending ? await inTime(pending, timed) : pending
  } catch (cause) {
    throw new JustonceError('BODY_CHECK_FAILED', { message: `The schema of ${what} threw: ${anyText(cause)}.`, cause })
  }
  if (result === undefined) {
    const message = `The schema of ${what} has not answered within ${timed.withinMs} ms.`
    throw new JustonceError('BODY_CHECK_FAILED', { message })
  }
  if (result.issues === undefined) return result.value
  throw new JustonceError('BODY_INVALID', {
    message: `The body does not match the schema of ${what}: ${describeIssues(result.issues)}.`,
    details: { issues: result.issues },
  })
}

function withBody(message: Message, body: unknown, sent: unknown): Message {
  const changed = { ...message, body }
  rememberSentBody(changed, sent)
  return changed
}
