import type { Facts } from '../contracts/index.ts'
import { exponential } from '../engine/recovery/backoff.ts'
import { checkFunction, checkNumber, checkOptions, JustonceError } from '../errors/index.ts'
import type { EffectOptions } from '../intents/effect.ts'
import { coordinate, type ReservationResult } from './coordinate.ts'
import type { Participant } from './participant.ts'

export interface ReservationOptions<Body = unknown> {
  /** What is set aside, by name. `participantIn(store, …)` makes one of a resource in a store. */
  readonly participants: Readonly<Record<string, Participant<Body>>>
  /**
   * How long participants that cannot be reached are tried before everything is cancelled. Default: 1 minute. Confirming and
   * cancelling are repeated for as long as it takes.
   */
  readonly timeoutMs?: number
  /** How long all calls of one attempt may take together. Default: 30 s. */
  readonly callTimeoutMs?: number
}

const steps = ['try', 'confirm', 'cancel'] as const

/** The longest wait between two attempts: a confirmation must not be late by much when its participant is back. */
const longestWaitMs = 30_000

/** A reservation is an effect like any other: decided on with `intend`, and repeated with the same ids until it has ended. */
export function reservationEffect<Body>(
  store: { readonly facts: Pick<Facts<never>, 'read' | 'change' | 'remove'> },
  name: string,
  options: ReservationOptions<Body>,
): EffectOptions<Body, ReservationResult> {
  const where = `The reservation ${name}`
  checkOptions(options, ['participants', 'timeoutMs', 'callTimeoutMs'], where)
  const { participants, timeoutMs = 60_000, callTimeoutMs = 30_000 } = options
  checkNumber(timeoutMs, `timeoutMs of reservation ${name}`, 0)
  if (typeof participants !== 'object' || participants === null || Object.keys(participants).length === 0)
    throw new JustonceError('OPTION_INVALID', { message: `${where} needs participants.` })
  for (const [participant, each] of Object.entries(participants))
    for (const step of steps) checkFunction(each?.[step], `${step} of participant ${participant}`)
  return {
    // Every step can be repeated, so nothing of it is ever unknown.
    keyed: true,
    timeoutMs: callTimeoutMs,
    retry: { attempts: Number.MAX_SAFE_INTEGER, backoff: exponential({ maxMs: longestWaitMs }) },
    run: ({ payload, intendedAt }, { idempotencyKey: id, signal }) =>
      coordinate<Body>(
        store,
        { name, participants, timeoutMs },
        { id, body: payload as Body, since: intendedAt, signal },
      ),
  }
}
