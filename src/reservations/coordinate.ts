import type { Clock, Facts } from '../contracts/index.ts'
import { isDidNotHappen, isJustonceError } from '../errors/index.ts'
import { isPermanentError } from '../errors/permanent-error.ts'
import { databaseNow, type ParticipantState, type ReservationState } from '../facts/index.ts'
import { callWithin } from '../intents/call.ts'
import { Board } from './board.ts'
import { decide } from './decide.ts'
import { failed, type Participant, type ReservationCall, type Step, type Tried } from './participant.ts'

/** A registered reservation. */
export interface Reservation<Body = unknown> {
  readonly name: string
  readonly participants: Readonly<Record<string, Participant<Body>>>
  /** How long participants that cannot be reached are tried before everything is cancelled. */
  readonly timeoutMs: number
  /** How long one call of a participant may take. */
  readonly callTimeoutMs: number
}

/** A reservation that was asked for. */
export interface Wanted<Body> {
  readonly id: string
  /** The key of its intent. */
  readonly key: string
  /** 1 is the first attempt to take it to its end. */
  readonly attempt: number
  readonly body: Body
  readonly signal: AbortSignal
}

/** How a reservation has ended. */
export type ReservationResult =
  | { readonly outcome: 'confirmed' }
  | { readonly outcome: 'cancelled'; readonly why: string }

type Site = { readonly facts: Pick<Facts<never>, 'read' | 'change' | 'remove'>; readonly clock: Clock }

/**
 * Takes a reservation as far as it goes: tries all participants, decides, and confirms or cancels all of them. It rejects if
 * something has to be repeated, and is called again then, by any process, until it resolves. Every step can be repeated,
 * and the decision is stored before anybody acts on it, so it does not matter where a process dies.
 */
export async function coordinate<Body>(
  site: Site,
  reservation: Reservation<Body>,
  wanted: Wanted<Body>,
): Promise<ReservationResult> {
  const board = new Board(site.facts, {
    reservation: reservation.name,
    id: wanted.id,
    key: wanted.key,
    participants: allAre(Object.keys(reservation.participants), 'trying'),
  })
  await board.open(wanted.attempt === 1)
  if (board.state.decision === undefined) await tryAll(site, reservation, wanted, board)
  const { decision } = board.state
  await endAll(site, reservation, wanted, board, decision as 'confirm' | 'cancel')
  return decision === 'confirm' ? { outcome: 'confirmed' } : { outcome: 'cancelled', why: board.state.why ?? '' }
}

/** Confirms or cancels those that took part when it was decided, also if the app has others by now. */
async function endAll<Body>(
  site: Site,
  reservation: Reservation<Body>,
  wanted: Wanted<Body>,
  board: Board,
  step: 'confirm' | 'cancel',
): Promise<void> {
  const state = step === 'confirm' ? 'confirmed' : 'cancelled'
  const open = Object.entries(board.state.participants).filter(([, each]) => each !== state)
  const failures: Error[] = []
  const ended = await Promise.all(
    open.map(async ([participant]) => {
      try {
        await call(site, reservation, wanted, participant, step)
        return [[participant, state] as const]
      } catch (cause) {
        failures.push(failed(step, participant, cause))
        return []
      }
    }),
  )
  const changed = Object.fromEntries(ended.flat())
  if (Object.keys(changed).length > 0) await board.change({ participants: { ...board.state.participants, ...changed } })
  if (failures[0] !== undefined) throw failures[0]
}

async function tryAll<Body>(
  site: Site,
  reservation: Reservation<Body>,
  wanted: Wanted<Body>,
  board: Board,
): Promise<void> {
  const begunAt = site.clock.monotonicMs()
  // Also those that another app has tried: what they have set aside must be ended.
  const names = Object.keys({ ...board.state.participants, ...reservation.participants })
  const tried = Object.fromEntries(
    await Promise.all(
      names.map(async (participant) => [participant, await tryOne(site, reservation, wanted, participant)] as const),
    ),
  )
  const isComplete = Object.values(tried).every(({ kind }) => kind === 'reserved' || kind === 'confirmed')
  const now = isComplete ? 0 : (await databaseNow(site)).getTime()
  const triedSince = firstTry(board, now - (site.clock.monotonicMs() - begunAt))
  const decision = decide(tried, !isComplete && now >= triedSince + reservation.timeoutMs)
  if (decision.kind === 'undecided') {
    await board.change({ participants: statesOf(tried), triedSince })
    throw decision.error
  }
  const participants = allAre(names, decision.kind === 'confirm' ? 'confirming' : 'cancelling')
  const why = decision.kind === 'cancel' ? decision.why : undefined
  // Before anybody acts on it: a process that dies after this cannot make another one decide differently.
  await board.change({ decision: decision.kind, why, participants })
}

async function tryOne<Body>(
  site: Site,
  reservation: Reservation<Body>,
  wanted: Wanted<Body>,
  participant: string,
): Promise<Tried> {
  try {
    const answer = await call(site, reservation, wanted, participant, 'try')
    return { kind: answer === 'confirmed' ? 'confirmed' : 'reserved' }
  } catch (error) {
    const isRefused = isPermanentError(error) || (isDidNotHappen(error) && error.permanent)
    return { kind: isRefused ? 'refused' : 'failed', error }
  }
}

/** Does not wait for a participant that hangs: what the others have set aside would never be given back. */
async function call<Body>(
  { clock }: Site,
  { name, participants, callTimeoutMs }: Reservation<Body>,
  { id, body, signal: attempt }: Wanted<Body>,
  participant: string,
  step: Step,
): Promise<unknown> {
  const called = participants[participant]
  // Nobody else knows what it has set aside.
  if (called === undefined) throw new Error(`The reservation ${name} has no participant ${participant} any more.`)
  const idempotencyKey = `${id}/${participant}/${step}`
  const limit = { what: `${step} of ${participant}`, timeoutMs: callTimeoutMs }
  const { outcome } = await callWithin(clock, limit, (timeout) => {
    const signal = AbortSignal.any([attempt, timeout])
    const given: ReservationCall<Body> = { reservation: name, participant, id, body, idempotencyKey, signal }
    return called[step](given)
  })
  if (outcome.kind === 'threw' && isJustonceError(outcome.error, 'INTENT_TIMEOUT'))
    throw new Error(`no answer within ${callTimeoutMs} ms`, { cause: outcome.error })
  if (outcome.kind === 'threw') throw outcome.error
  return outcome.value
}

/**
 * Nothing is set aside before it, so it does not matter how long the reservation had to wait. The earlier of two times, because a
 * clock that was ahead must not make it wait for days.
 */
function firstTry({ state }: Board, thisTry: number): number {
  return Math.min(state.triedSince ?? thisTry, thisTry)
}

function allAre(names: readonly string[], state: ParticipantState): ReservationState['participants'] {
  return Object.fromEntries(names.map((name) => [name, state]))
}

function statesOf(tried: Readonly<Record<string, Tried>>): ReservationState['participants'] {
  return Object.fromEntries(
    Object.entries(tried).map(([name, { kind }]) => [name, kind === 'failed' ? 'trying' : kind]),
  )
}
