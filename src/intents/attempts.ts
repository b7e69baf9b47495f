import type { StoredParkedMessage } from '../contracts/index.ts'
import { addErrorNote } from '../encoding/error-notes.ts'
import { hasUnsafeKey } from '../encoding/unsafe-keys.ts'
import type { Engine } from '../engine/engine.ts'
import { beginFor, giveBack, keepFor, type Reservation } from '../engine/retries/reservation.ts'
import { DidNotHappen, JustonceError } from '../errors/index.ts'
import { type CallOutcome, callWithin } from './call.ts'
import type { Effect } from './effect.ts'
import type { Finisher } from './finisher.ts'
import { attemptsOf, type ReadIntent, readIntent } from './intent-row.ts'
import type { Lane } from './lane.ts'
import { askProvider } from './probe.ts'
import type { Ending } from './settle-intents.ts'
import { stopwatch } from './time-limit.ts'
import { afterThrow, afterUnknown, isUnknown, type Verdict } from './verdict.ts'

/** A call must begin within this time after its attempt was counted, because its lease has begun to run. */
const startWithinMs = 5_000

interface AttemptsOptions {
  failed(error: unknown): void
  /** Called when a place is free again. */
  freed(): void
}

/** A reserved row, and what it needs. */
interface Task {
  readonly reservation: Reservation
  readonly kind: 'run' | 'probe' | 'settle'
  /** `undefined` if the row was damaged. */
  readonly read: ReadIntent | undefined
}

/** The calls that this process is making. */
export class Attempts<Tx> {
  readonly #engine: Engine<Tx>
  readonly #finisher: Finisher<Tx>
  readonly #options: AttemptsOptions
  readonly #running = new Set<Promise<void>>()

  constructor(engine: Engine<Tx>, finisher: Finisher<Tx>, options: AttemptsOptions) {
    this.#engine = engine
    this.#finisher = finisher
    this.#options = options
  }

  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running)
  }

  /** Begins their calls. The lane has been entered for each of them. */
  async start(lane: Lane<Tx>, reservations: readonly Reservation[]): Promise<void> {
    const tasks = reservations.map((reservation) => taskOf(lane.effect, reservation))
    const passedMs = stopwatch(this.#engine.clock)
    let started = 0
    try {
      const of = (kind: Task['kind']): readonly Reservation[] =>
        tasks.filter((task) => task.kind === kind).map(({ reservation }) => reservation)
      // This commit is what others see of a running call: if this process dies now, it has begun and never ended.
      await beginFor(this.#engine, of('run'), lane.leaseMs)
      await keepFor(this.#engine, of('probe'), lane.leaseMs)
      for (const task of tasks) {
        started++
        // Somebody else has the row by now, or this process was frozen and its lease is about to end.
        const isOurs = task.reservation.revision !== undefined
        if (isOurs && passedMs() < startWithinMs) this.#run(lane, task)
        else this.#track(lane, isOurs ? giveBack(this.#engine, [task.reservation]) : Promise.resolve())
      }
    } catch (error) {
      for (let left = started; left < tasks.length; left++) lane.leave()
      // What got no answer when it began is left as it is. If it says "begun", another process may have begun it and made the call.
      const known = reservations.slice(started).filter(({ isUnsure }) => !isUnsure)
      await giveBack(this.#engine, known).catch((failure) => this.#options.failed(failure))
      throw error
    }
  }

  #track(lane: Lane<Tx>, work: Promise<void>): void {
    const tracked = work
      .catch((error) => this.#options.failed(error))
      .finally(() => {
        lane.leave()
        this.#running.delete(tracked)
        this.#options.freed()
      })
    this.#running.add(tracked)
  }

  #run(lane: Lane<Tx>, task: Task): void {
    const { effect } = lane
    if (task.kind === 'settle' || task.read === undefined) this.#track(lane, this.#settle(effect, task))
    else if (task.kind === 'probe') this.#track(lane, this.#probe(effect, task, task.read))
    else this.#track(lane, this.#call(effect, task, task.read))
  }

  async #call(effect: Effect, task: Task, { intent, idempotencyKey, trace }: ReadIntent): Promise<void> {
    const { clock } = this.#engine
    const { letter } = task.reservation
    const attempt = attemptsOf(letter) + 1
    this.#reportDeath(effect, letter)
    const what = `Attempt ${attempt} of the effect ${effect.name} for ${intent.key}`
    const { outcome, late } = await callWithin(clock, { what, timeoutMs: effect.timeoutMs }, (signal, assertInTime) =>
      effect.run(intent, { idempotencyKey, attempt, trace, signal, assertInTime }),
    )
    const end = (ended: CallOutcome): void => this.#finisher.add(this.#endingOf(effect, task, attempt, ended))
    end(outcome)
    // What it does after its time is still the truth about this attempt.
    late?.then(end).catch((error) => this.#options.failed(error))
  }

  #endingOf(effect: Effect, { reservation }: Task, attempts: number, outcome: CallOutcome): Ending {
    const { clock } = this.#engine
    const { letter } = reservation
    const about = { effect, letter, revision: reservation.revision as number, attempts, isAnswer: false, isLate: false }
    if (outcome.kind === 'returned') {
      const result = this.#encodeResult(effect, letter, outcome.value)
      return { ...about, verdict: { kind: 'done', result }, errors: letter.errors }
    }
    const { error } = outcome
    const verdict = afterThrow(effect, { attempts, wasUnknown: isUnknown(letter) }, error, clock.random())
    return { ...about, verdict, errors: addErrorNote(letter.errors, error, clock.now()) }
  }

  async #probe(effect: Effect, { reservation }: Task, read: ReadIntent): Promise<void> {
    const { letter, revision } = reservation
    const { verdict, errors } = await askProvider(this.#engine.clock, effect, letter, read)
    const kept: Verdict =
      verdict.kind === 'happened'
        ? { kind: 'done', result: this.#encodeResult(effect, letter, verdict.result) }
        : verdict
    const about = { effect, letter, revision: revision as number, attempts: letter.attempts }
    this.#finisher.add({ ...about, verdict: kept, errors, isAnswer: true, isLate: false })
  }

  /** Nothing is called: it must only be decided what becomes of an attempt that began and never ended, or of a damaged row. */
  async #settle(effect: Effect, { reservation, read }: Task): Promise<void> {
    const { clock } = this.#engine
    const { letter, revision } = reservation
    const attempts = attemptsOf(letter)
    const damaged = new DidNotHappen('The stored intent cannot be read.', { permanent: true })
    const error = read === undefined && !isUnknown(letter) ? damaged : neverEnded(effect, letter)
    const verdict: Verdict =
      error === damaged
        ? { kind: 'given-up', error }
        : read === undefined
          ? { kind: 'person', error }
          : afterUnknown(effect, attempts, error)
    const errors = addErrorNote(letter.errors, error, clock.now())
    const about = { effect, letter, revision: revision as number, attempts }
    this.#finisher.add({ ...about, verdict, errors, isAnswer: false, isLate: false })
  }

  #reportDeath(effect: Effect, letter: StoredParkedMessage): void {
    if (letter.begun === 0) return
    const error = neverEnded(effect, letter)
    const attempts = attemptsOf(letter)
    this.#engine.events.emit({
      kind: 'intent-unknown',
      ...{ effect: effect.name, key: letter.key, attempts, next: 'again', error },
    })
  }

  /** The call has happened, whatever it returned. */
  #encodeResult(effect: Effect, { key }: StoredParkedMessage, value: unknown): string | undefined {
    try {
      const text = JSON.stringify(value) as string | undefined
      if (text === undefined) return undefined
      if (Buffer.byteLength(text) > this.#engine.limits.maxBodyBytes)
        throw new Error(`it has more than ${this.#engine.limits.maxBodyBytes} bytes`)
      // Providers say what they like, and the handler of the outcome could not read it.
      if (hasUnsafeKey(text)) throw new Error('it contains a property named __proto__')
      return text
    } catch (cause) {
      const { code, message } = new JustonceError('INTENT_RESULT_NOT_KEPT', {
        message: `The result of the effect ${effect.name} for ${key} is not kept: ${String(cause)}.`,
      })
      this.#engine.events.emit({ kind: 'warning', code, message })
      return undefined
    }
  }
}

function taskOf(effect: Effect, reservation: Reservation): Task {
  const { letter } = reservation
  let read: ReadIntent | undefined
  try {
    read = readIntent(letter)
  } catch {
    // A damaged row is settled without a call.
  }
  return { reservation, read, kind: read === undefined ? 'settle' : kindOf(effect, letter) }
}

function kindOf(effect: Effect, letter: StoredParkedMessage): Task['kind'] {
  if (!isUnknown(letter)) return 'run'
  if (effect.remedy === 'repeat') return attemptsOf(letter) < effect.retry.attempts ? 'run' : 'settle'
  return effect.remedy === 'probe' && letter.begun === 0 ? 'probe' : 'settle'
}

function neverEnded(effect: Effect, letter: StoredParkedMessage): JustonceError {
  return new JustonceError('INTENT_UNKNOWN', {
    message: `Attempt ${attemptsOf(letter)} of the effect ${effect.name} for ${letter.key} has begun and never ended: its process has died or was cut off.`,
  })
}
