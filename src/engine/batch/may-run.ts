import { type ErrorCode, isJustonceError } from '../../errors/index.ts'
import type { Engine } from '../engine.ts'
import { isUnborn, type Outcomes, type Run, type RunOutcome } from '../items.ts'
import type { Order } from '../order/key-order.ts'
import { judge } from '../recovery/failure-policy.ts'

/** What must be checked before a run may start. */
export interface Permits<Tx> {
  readonly order: Order<Tx>
  /** Whether the batch must not start this run because its time is up. */
  timeIsUp(run: Run<Tx>): boolean
  /** Everything before it is committed and acknowledged, so at-most-once handlers run now. */
  readonly isAfterAck?: boolean
  /** The batch moves positions in the store, so messages of a partition do not interleave. */
  readonly movesPositions?: boolean
  /** Names of handlers that have succeeded in this batch. Only this batch may rely on that until it commits. */
  readonly wentWell: Set<string>
}

/** Decides which runs must not start. Outcomes that the claim has decided stay as they are. */
export function mayRun<Tx>(engine: Engine<Tx>, permits: Permits<Tx>, run: Run<Tx>, outcomes: Outcomes): boolean {
  if (outcomes[run.index] !== undefined) return false
  const hindrance = hindranceOf(engine, permits, run, outcomes)
  if (hindrance !== undefined) outcomes[run.index] = hindrance
  else if (permits.timeIsUp(run)) outcomes[run.index] = { kind: 'unstarted' }
  else if (run.handler.delivery === 'at-most-once' && !permits.isAfterAck) outcomes[run.index] = { kind: 'after-ack' }
  else if (!permits.wentWell.has(run.handler.name) && !isAdmitted(engine, run))
    outcomes[run.index] = stoppedOutcome(run)
  else return true
  return false
}

/**
 * A message that is not claimed must not wait behind others: it would be taken for claimed when its turn comes. Nor must one
 * that was applied in part: it would run again then.
 */
function hindranceOf<Tx>(
  engine: Engine<Tx>,
  { order }: Permits<Tx>,
  run: Run<Tx>,
  outcomes: Outcomes,
): RunOutcome | undefined {
  if (isUnborn(run) || isJustonceError(run.failure?.error, 'PARTLY_APPLIED')) return ownFate(engine, run)
  return behindItsHandlers(run, outcomes) ?? order.hindrance(run, outcomes) ?? ownFate(engine, run)
}

/**
 * Asked although `sortOut` has asked before: the breaker may have opened since, by failures of this very batch. And one question
 * here would be too late, because what can be held back must not be in a batch. A message of a partition cannot be left out of
 * its batch; a breaker stops the messages that come after it.
 */
function isAdmitted<Tx>({ breakers }: Engine<Tx>, { handler, key, delivery, origin }: Run<Tx>): boolean {
  const mustRun = delivery.place !== undefined && origin.parksStopped !== true
  return mustRun || breakers.admits(handler, key)
}

function stoppedOutcome<Tx>({ origin }: Run<Tx>): RunOutcome {
  return origin.parksStopped ? { kind: 'waiting', behind: 'breaker' } : { kind: 'unstarted' }
}

/** A handler that is not independent waits for the handlers before it on the same message. */
function behindItsHandlers<Tx>(run: Run<Tx>, outcomes: Outcomes): RunOutcome | undefined {
  if (run.handler.independent) return undefined
  for (let before = run.first; before < run.index; before++) {
    const kind = outcomes[before]?.kind
    if (kind === 'unstarted' || kind === 'apart') return { kind: 'unstarted' }
    if (kind === 'failed' || kind === 'parked' || kind === 'waiting') return { kind: 'waiting', behind: 'handler' }
  }
  return undefined
}

function ownFate<Tx>(engine: Engine<Tx>, run: Run<Tx>): RunOutcome | undefined {
  if (run.expired) return { kind: 'expired' }
  return run.failure === undefined ? undefined : failedOutcome(engine, run, run.failure.error)
}

/** Codes of what the engine concludes about a message. They say nothing about a handler. */
export const aboutTheMessage: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'MESSAGE_EXPIRED',
  'PROCESS_DIED',
  'BROKER_GAVE_UP',
  'SHARD_UNKNOWN',
  'ID_FROM_THE_FUTURE',
  'TOO_OLD_TO_KNOW',
])

/** The outcome of a failed attempt. */
export function failedOutcome<Tx>(engine: Engine<Tx>, run: Run<Tx>, error: unknown): RunOutcome {
  const { handler, owner } = run
  // These codes say nothing about the handler.
  if (!isJustonceError(error) || !aboutTheMessage.has(error.code)) engine.breakers.failed(handler, run.key, error)
  return { kind: 'failed', error, verdict: judge(error, handler.retry, owner?.attempts ?? 0, engine.clock.random()) }
}

/**
 * The outcome if other runs may have contributed to the failure: the message is parked for a run alone, and only that
 * run counts as an attempt.
 */
export function uncounted<Tx>({ clock }: Engine<Tx>, { handler, owner }: Run<Tx>, error: unknown): RunOutcome {
  const { reason } = judge(error, handler.retry, 0, clock.random())
  return { kind: 'failed', error, verdict: { state: 'waiting', reason, attempts: owner?.attempts ?? 0, delayMs: 0 } }
}
