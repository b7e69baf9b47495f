import type { Clock, Facts } from '../contracts/index.ts'
import { exponential } from '../engine/recovery/backoff.ts'
import { checkFunction, checkNumber, checkOptions, JustonceError } from '../errors/index.ts'
import type { EffectOptions } from '../intents/effect.ts'
import { coordinate, type ReservationResult } from './coordinate.ts'
import type { Participant } from './participant.ts'

/** What `app.reservation()` takes. */
export interface ReservationOptions<Body = unknown> {
  /** What is set aside, by name. `participantIn(store, …)` makes one of a resource in a store. */
  readonly participants: Readonly<Record<string, Participant<Body>>>
  /**
   * How long participants that cannot be reached are tried before everything is cancelled. It counts from the first try. Default: 1 minute. Confirming and
   * cancelling are repeated for as long as it takes.
   */
  readonly timeoutMs?: number
  /** How long one call of a participant may take; after that it counts as failed, and is repeated. Default: 10 s. */
  readonly callTimeoutMs?: number
}

const steps = ['try', 'confirm', 'cancel'] as const

/** The longest wait between two attempts: a confirmation must not be late by much when its participant is back. */
const longestWaitMs = 30_000

/** A longer call would keep the others from being cancelled. */
const longestCallMs = 600_000

/** It is part of the names of records, which have a limit and are read by people. */
function isName(participant: string): boolean {
  return /^[\p{L}\p{N}_][\p{L}\p{N}\p{M} ._-]{0,99}$/u.test(participant)
}

/** A reservation is an effect like any other: decided on with `intend`, and repeated with the same ids until it has ended. */
export function reservationEffect<Body>(
  site: { readonly facts: Pick<Facts<never>, 'read' | 'change' | 'remove'>; readonly clock: Clock },
  name: string,
  options: ReservationOptions<Body>,
): EffectOptions<Body, ReservationResult> {
  const where = `The reservation ${name}`
  checkOptions(options, ['participants', 'timeoutMs', 'callTimeoutMs'], where)
  const { participants, timeoutMs = 60_000, callTimeoutMs = 10_000 } = options
  checkNumber(timeoutMs, `timeoutMs of reservation ${name}`, 0)
  checkNumber(callTimeoutMs, `callTimeoutMs of reservation ${name}`, 1, longestCallMs)
  if (typeof participants !== 'object' || participants === null || Object.keys(participants).length === 0)
    throw new JustonceError('OPTION_INVALID', { message: `${where} needs participants.` })
  for (const [participant, each] of Object.entries(participants)) {
    if (!isName(participant))
      throw new JustonceError('OPTION_INVALID', {
        message: `${where} has a participant ${JSON.stringify(participant)}; use 1 to 100 letters, digits, spaces, dots, hyphens and underscores.`,
      })
    for (const step of steps) checkFunction(each?.[step], `${step} of participant ${participant}`)
  }
  return {
    // Every step can be repeated, so nothing of it is ever unknown.
    keyed: true,
    // All are tried at the same time, then all are ended at the same time; the rest is for what is stored in between.
    timeoutMs: 3 * callTimeoutMs,
    retry: { attempts: Number.MAX_SAFE_INTEGER, backoff: exponential({ maxMs: longestWaitMs }) },
    // While one participant is away, the others must get back what they have set aside in time.
    breaker: false,
    run({ key, payload }, { idempotencyKey: id, attempt, signal }) {
      const wanted = { id, key, attempt, body: payload as Body, signal }
      return coordinate<Body>(site, { name, participants, timeoutMs, callTimeoutMs }, wanted)
    },
  }
}
