import type { Delivery, IncomingMessage, Message } from '../../contracts/index.ts'
import { anyJson, anyText } from '../../encoding/any-text.ts'
import { fingerprintOf } from '../../encoding/fingerprint.ts'
import { isOutcome } from '../../encoding/intent-name.ts'
import { isJustonceError, JustonceError } from '../../errors/index.ts'
import type { Engine } from '../engine.ts'
import type { Handler } from '../handler.ts'
import { isThenable } from '../is-thenable.ts'
import { isOwnedBy, type Origin, type Refusal, type Run, type Work } from '../items.ts'
import { wasGivenUp } from '../retries/parked-rows.ts'
import { checkEnvelope, checkKey, type EnvelopeLimits } from './check-envelope.ts'
import { decodeMessage, type Fitted, fitHandler, fitType } from './decode-message.ts'
import { lateness } from './expiry.ts'
import { sentBody } from './identify.ts'
import { markIn } from './position-mark.ts'
import type { StandardSchema } from './standard-schema.ts'

export type Prepared<Tx> =
  | { readonly kind: 'work'; readonly work: Work<Tx> }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | { readonly kind: 'ignored' }

/**
 * Decodes, validates and routes one delivery. Never throws: a message that cannot be handled is refused with its reason.
 * Returns synchronously unless a schema or codec must be awaited, because a promise for every message would cost more than the
 * rest of this. `first` is the number of its first run.
 */
export function prepare<Tx>(
  engine: Engine<Tx>,
  delivery: Delivery,
  origin: Origin = {},
  first = 0,
): Prepared<Tx> | Promise<Prepared<Tx>> {
  try {
    const handlers = engine.handlersOf(delivery.message.type ?? '')
    if (handlers.length === 0 && isIgnored(engine, delivery.message, origin)) return { kind: 'ignored' }
    // First of all: everything after this may rely on what was checked.
    checkEnvelope(delivery.message, limitsOf(engine, delivery.message, origin))
    checkType(handlers, delivery.message)
    checkIdentity(handlers, delivery.message)
    const schema = engine.schemaOf(delivery.message.type as string)
    const message = decodeMessage(engine, delivery.message)
    if (isThenable(message) || schema !== undefined || handlers.some((handler) => handler.schema !== undefined)) {
      return prepareLater(engine, { delivery, origin, first }, message, schema, handlers)
    }
    const fitted = handlers.map((handler) => ({ handler, message, failure: undefined }))
    return {
      kind: 'work',
      work: workOf(engine, { delivery, origin, first }, fitted, () => fingerprintOf(sentBody(message))),
    }
  } catch (error) {
    return refused(delivery, origin, error)
  }
}

/**
 * What comes of a call holds a payload and a result, each of which was measured when it was given. Only from a row of the store: what
 * a broker delivers may claim to be anything.
 */
function limitsOf<Tx>({ limits }: Engine<Tx>, message: IncomingMessage, { letter }: Origin): EnvelopeLimits {
  if (letter === undefined || !isOutcome(message)) return limits
  return { ...limits, maxBodyBytes: Number.POSITIVE_INFINITY }
}

/**
 * Whether the type is one that nothing here handles; a message without a type is a mistake instead. A parked message is
 * never ignored: its row is all that exists of it, and another app may want it.
 */
function isIgnored<Tx>({ unknownTypes }: Engine<Tx>, { type }: IncomingMessage, { letter }: Origin): boolean {
  return unknownTypes === 'ignore' && letter === undefined && typeof type === 'string' && type !== ''
}

function checkType<Tx>(handlers: readonly Handler<Tx>[], { type, id, source }: IncomingMessage): void {
  if (type === undefined || type === null || type === '')
    throw new JustonceError('MESSAGE_TYPE_MISSING', { message: `A message from ${anyText(source)} has no type.` })
  if (handlers.length > 0) return
  const message = `No handler is registered for the type ${anyJson([type]).slice(1, -1)} (message ${id}).`
  throw new JustonceError('TYPE_UNKNOWN', { message })
}

function checkIdentity<Tx>(handlers: readonly Handler<Tx>[], message: IncomingMessage): void {
  if (message.id !== undefined || handlers.every((handler) => handler.identify !== undefined)) return
  throw new JustonceError('MESSAGE_ID_MISSING', {
    message: `A message of type ${message.type} from ${message.source} has no id.`,
  })
}

type Given = Pick<Run<unknown>, 'delivery' | 'origin' | 'first'>

function workOf<Tx>(
  engine: Engine<Tx>,
  { delivery, origin, first }: Given,
  fitted: readonly Fitted<Tx>[],
  fingerprintOfBody: () => Uint8Array,
): Work<Tx> {
  const runs: Run<Tx>[] = []
  const condemned = origin.condemned ?? givenUp(delivery.givenUp) ?? givenUp(stillGivenUp(engine, delivery, origin))
  const shared = { wasGiven: false }
  let ofBody: Uint8Array | undefined
  for (const { handler, message, failure } of fitted) {
    try {
      const key = keyOf(handler, message, delivery.message)
      let fingerprint: Uint8Array | undefined
      if (handler.fingerprint === 'body') fingerprint = ofBody ??= fingerprintOfBody()
      else if (handler.fingerprint !== 'none') fingerprint = fingerprintOf(handler.fingerprint(message))
      const born = handler.born.of(message)
      const { expired, failure: known } = fateOf(engine, condemned, handler, message, failure)
      const mark = origin.letter === undefined ? origin.mark : markIn(origin.letter, key)
      const isKnown = mark !== undefined || isClaimed(origin, key)
      const early = isKnown ? undefined : unborn(engine, key, born)
      runs.push({
        index: first + runs.length,
        first,
        delivery,
        origin,
        handler,
        message,
        // If the handler has its own schema, the body that the schema returned belongs to that handler alone.
        handout: handler.schema === undefined ? shared : { wasGiven: false },
        key,
        mark,
        fingerprint,
        born,
        owner: undefined,
        expired,
        failure: early ?? known,
      })
    } catch (error) {
      // A message that does not fit the handler's schema need not fit its identify() or fingerprint() either.
      throw failure === undefined ? error : failure.error
    }
  }
  return { delivery, origin, runs }
}

/**
 * The message has been claimed, so its time had come, whatever the clock here says. A row under another key belongs to
 * another message.
 */
function isClaimed({ letter }: Origin, key: string): boolean {
  return letter !== undefined && isOwnedBy(letter, key)
}

/** An id from the future waits until its time has come: there is no place for its record yet. */
function unborn<Tx>({ clock }: Engine<Tx>, key: string, born: Date | undefined): Run<Tx>['failure'] {
  if (born === undefined) return undefined
  const delayMs = born.getTime() - clock.now().getTime()
  if (delayMs <= clocksDifferMs) return undefined
  const message = `The key ${key} says that it was made at ${born.toISOString()}.`
  const details = { delayMs: Math.min(delayMs, lookAgainMs) }
  return { error: new JustonceError('ID_FROM_THE_FUTURE', { message, details }) }
}

/** The local clock may be wrong: then it is soon corrected, or a process with a correct clock takes the message. */
const lookAgainMs = 3_600_000

/** Clocks differ, but not by more than this. */
const clocksDifferMs = 3_600_000

/** The broker will not deliver it again. */
function givenUp(why: Delivery['givenUp']): JustonceError | undefined {
  if (why === undefined || isJustonceError(why)) return why
  return new JustonceError('BROKER_GAVE_UP', { message: anyText(why) })
}

/** Only of what was given up before: other parked messages need not have come from a transport. */
function stillGivenUp<Tx>(engine: Engine<Tx>, { message }: Delivery, { letter }: Origin): Delivery['givenUp'] {
  return letter !== undefined && wasGivenUp(letter) ? engine.stillGivenUp?.(message) : undefined
}

/** What is known about a run before it starts. */
function fateOf<Tx>(
  engine: Engine<Tx>,
  condemned: JustonceError | undefined,
  handler: Handler<Tx>,
  message: Message,
  failure: Run<Tx>['failure'],
): Pick<Run<Tx>, 'expired' | 'failure'> {
  const late = lateness(engine, handler, message)
  if (late !== undefined && handler.expires.whenLate === 'skip') return { expired: true, failure: undefined }
  const error = condemned ?? late
  return { expired: false, failure: error === undefined ? failure : { error } }
}

async function prepareLater<Tx>(
  engine: Engine<Tx>,
  given: Given,
  decoding: Message | Promise<Message>,
  schema: StandardSchema | undefined,
  handlers: readonly Handler<Tx>[],
): Promise<Prepared<Tx>> {
  try {
    const message = await decoding
    // Computed from what was sent, before any schema changes it: a default that a schema adds, or a changed schema,
    // must not make a copy look like another message.
    const sent = sentBody(message)
    const ofBody = handlers.some(({ fingerprint }) => fingerprint === 'body') ? fingerprintOf(sent) : undefined
    const decoded = await fitType(engine.clock, schema, message)
    const fitted: Fitted<Tx>[] = []
    for (const handler of handlers) fitted.push(await fitHandler(engine.clock, handler, decoded, sent))
    return { kind: 'work', work: workOf(engine, given, fitted, () => ofBody as Uint8Array) }
  } catch (error) {
    return refused(given.delivery, given.origin, error)
  }
}

function keyOf<Tx>(handler: Handler<Tx>, message: Message, incoming: IncomingMessage): string {
  if (handler.identify === undefined) return incoming.id as string
  const key = handler.identify(message)
  checkKey(key, `What identify() of handler ${handler.name} returned`)
  return key
}

function refused<Tx>(delivery: Delivery, { letter, mark }: Origin, error: unknown): Prepared<Tx> {
  const { givenUp: why } = delivery
  return { kind: 'refused', refusal: { delivery, letter, mark, error: isJustonceError(why) ? why : asRefusal(error) } }
}

function asRefusal(error: unknown): JustonceError {
  if (isJustonceError(error)) return error
  if (error instanceof RangeError) {
    return new JustonceError('BODY_TOO_DEEP', {
      message: `The body cannot be read: ${error.message}.`,
      cause: error,
    })
  }
  // identify() or fingerprint() threw an error of its own: without a key nothing can be claimed.
  return new JustonceError('MESSAGE_ID_INVALID', {
    message: `The message could not be identified: ${anyText(error)}.`,
    cause: error,
  })
}
