import { JustonceError } from '../../../errors/index.ts'
import type { AnswerWatch, Asker } from '../../sql/answer-watch.ts'
import type { CheckOutOptions } from '../../sql/checked-out.ts'
import type { PgClientShape } from '../client-shapes.ts'
import { type Answer, type Call, type Connection, type Finished, type Opening, oneByOne } from '../connection.ts'
import { explained, isVanished, messageOf } from '../errors.ts'
import type { Names } from '../names.ts'
import type { Statement } from '../statement.ts'
import { wasLeftOpen } from '../transactions/left-open.ts'
import type { Cell } from '../values-as-text.ts'
import { speaksOther, watchEncoding } from './encodings.ts'
import { PgRunner } from './pg-runner.ts'
import { hasQueued, type PgWire, RoundTrip, wireOf } from './round-trip.ts'
import { sendAhead } from './send-ahead.ts'

/** Members that a `pg` client may lack, depending on its version. */
interface PgExtras {
  readonly connection?: { readonly stream?: { readonly bytesRead?: number; destroy?(error?: Error): void } }
  readonly processID?: number | null
  readonly readyForQuery?: boolean
  /** Absent in versions that cannot pipeline. */
  pipeline?: boolean
  getTransactionStatus?(): string | null
}

export interface PgConnectionOptions {
  readonly names: Names
  readonly answers: AnswerWatch
  /** Terminates a server process that is still running a statement nobody waits for any more. */
  terminate(processId: number): void
}

export class PgConnection<Client extends PgClientShape> implements Connection<Client>, Asker {
  readonly tx: Client
  readonly lockWaitMs: number | undefined
  readonly #options: PgConnectionOptions
  readonly #canFly: boolean
  /** The pool connected it before we could listen. What we send first asks for our encoding, and the server reports if that is another. */
  readonly #isNew: boolean
  #unsent: RoundTrip | undefined
  #opening: RoundTrip | undefined
  #last: RoundTrip | undefined
  #opened: Promise<unknown> | undefined
  #patience: NodeJS.Immediate | undefined
  /** A named statement has vanished on this connection, so everything is sent without names until the connection is returned. */
  #isNameless = false
  /** Those that may still be without an answer, oldest first. */
  #trips: RoundTrip[] = []
  /** When each boundary was sent that may still be without an answer, oldest first. */
  readonly #aheadAt: number[] = []
  #scriptAskedAt: number | undefined
  #isEnding = false
  #lost: Error | undefined
  #gone = false

  constructor(client: Client, options: PgConnectionOptions, { lockWaitMs, isPatient }: CheckOutOptions = {}) {
    this.tx = client
    this.lockWaitMs = lockWaitMs
    this.#options = options
    if (!isPatient) options.answers.add(this)
    this.#canFly = wireOf(client) !== undefined
    this.#isNew = watchEncoding(client)
    // Without a listener, a closed connection would be an uncaught error of the process.
    client.on('error', this.#onError)
  }

  readonly #onError = (error: Error): void => {
    this.#lost ??= error
  }

  get askedAt(): number | undefined {
    this.#trips = this.#trips.filter(({ isOver }) => !isOver)
    const trip = this.#trips.find(({ sentAt }) => sentAt !== undefined)
    return this.#aheadAt[0] ?? trip?.sentAt ?? this.#scriptAskedAt
  }

  get askedBytes(): number {
    return this.#trips.reduce((sum, { sentBytes }) => sum + sentBytes, 0)
  }

  heardBytes(): number | undefined {
    return this.#extras.connection?.stream?.bytesRead
  }

  giveUp(error: Error): void {
    if (this.#gone) return
    this.#lost ??= error
    const { connection, processID } = this.#extras
    // Whatever waits for an answer is rejected with the error.
    connection?.stream?.destroy?.(error)
    // A commit may be waiting for a standby: then its transaction must not look as if it were durable.
    if (typeof processID === 'number' && !this.#isEnding) this.#options.terminate(processID)
  }

  get skipsAfterFailure(): boolean {
    return this.#canFly
  }

  get holdsBack(): boolean {
    return this.#canFly
  }

  open({ begin, seal, settings, settingValues }: Opening): Promise<Answer> {
    if (!this.#canFly) return this.#openStepByStep([begin, seal], settings, settingValues)
    let attempts = 0
    const trip = new RoundTrip({
      prepare: this.#prepare,
      explain: notOpened,
      tick: this.#tick,
      failed: (error, answered, wire) => {
        this.#forgetNames(error, wire)
        attempts++
        // If nothing is queued behind it, it is sent again before anything else, and no caller notices.
        const isInside = wasLeftOpen(error)
        if (attempts === 1 && (isVanished(error) || isInside) && !hasQueued(this.tx)) {
          trip.prepareAgain({ isInside })
          this.tx.query(trip)
          return true
        }
        // There may be no transaction, so queued and later statements must not reach the server.
        if (attempts > 1 || answered < openingSize) wire?.stream.destroy?.()
        return false
      },
    })
    trip.addAhead(begin)
    trip.addAhead(seal)
    const answer = trip.add(settings, settingValues)
    this.#unsent = trip
    this.#opening = trip
    this.#trips.push(trip)
    this.#opened = answer
    this.tx.query(trip)
    // The first statement joins this round trip, even some promises later; but a native call must not wait forever for it.
    this.#patience = setImmediate(() => this.#write(trip))
    return answer
  }

  async #openStepByStep(first: readonly Statement[], settings: Statement, values: readonly Cell[]): Promise<Answer> {
    const openNow = () => Promise.all([this.#runner.runAll(first), this.#runner.run(settings, values)])
    const [, answer] = await openNow().catch(async (error) => {
      if (!wasLeftOpen(error)) throw error
      await this.#runner.script('ROLLBACK')
      return await openNow()
    })
    return answer
  }

  #write(trip: RoundTrip): void {
    if (this.#unsent !== trip) return
    this.#unsent = undefined
    trip.send()
  }

  get #prepare(): boolean {
    return this.#options.names.isUsed && !this.#isNameless
  }

  /** `pg` assumes that the server still has every statement it has parsed once. */
  #forgetNames(error: unknown, wire: PgWire | undefined): void {
    if (!isVanished(error)) return
    this.#isNameless = true
    this.#options.names.lost()
    const parsed = wire?.parsedStatements ?? {}
    for (const name of Object.keys(parsed)) if (name.startsWith('justonce_')) delete parsed[name]
  }

  run(statement: Statement, values: readonly Cell[]): Promise<Answer> {
    if (!this.#canFly) return this.#runner.run(statement, values)
    const add = (trip: RoundTrip): Promise<Answer> => {
      const answer = trip.add(statement, values)
      this.#send(trip)
      return answer
    }
    return this.#unsent === undefined ? this.#nextTrip(explained).then(add) : add(this.#unsent)
  }

  async runInTurn(calls: readonly Call[]): Promise<readonly Answer[]> {
    if (!this.#canFly) return await this.#runner.runInTurn(calls)
    const trip = this.#unsent ?? (await this.#nextTrip(explained))
    const answers = calls.map(({ statement, values }) => trip.add(statement, values))
    this.#send(trip)
    return await Promise.all(answers)
  }

  async runAll(statements: readonly Statement[]): Promise<string> {
    if (!this.#canFly) return await this.#runner.runAll(statements)
    const trip = await this.#nextTrip()
    for (const statement of statements.slice(0, -1)) trip.addAhead(statement)
    const last = trip.add(statements.at(-1) as Statement, [])
    this.#send(trip)
    await last
    return trip.lastTag
  }

  runAhead(statements: readonly Statement[]): Promise<unknown> {
    if (!this.#canFly) return this.#runner.runAll(statements)
    // Nothing would ever answer.
    if (this.#lost !== undefined) return Promise.reject(this.#lost)
    const isIdle = this.#opening?.isAnswered === true && this.#extras.readyForQuery === true && !hasQueued(this.tx)
    const wire = isIdle ? wireOf(this.tx) : undefined
    if (wire !== undefined) {
      this.#aheadAt.push(this.#tick())
      return sendAhead(wire, statements).finally(() => this.#aheadAt.shift())
    }
    // It travels with the opening; or the client keeps it in order.
    const trip = this.#unsent ?? this.#newTrip()
    for (const statement of statements.slice(0, -1)) trip.addAhead(statement)
    const last = trip.add(statements.at(-1) as Statement, [])
    this.#send(trip)
    return last
  }

  finish(writes: readonly Call[], ending: readonly Statement[]): Finished {
    if (!this.#canFly) return oneByOne(this.#runner, writes, ending)
    this.#isEnding = true
    const trip = this.#newTrip()
    const written = writes.map(({ statement, values }) => trip.add(statement, values))
    for (const statement of ending.slice(0, -1)) trip.addAhead(statement)
    const ended = trip.add(ending.at(-1) as Statement, [])
    this.#send(trip)
    return { written, tag: ended.then(() => trip.lastTag) }
  }

  /** Waits until the opening has succeeded, because outside a transaction each statement would be its own transaction. */
  async #nextTrip(explain?: typeof explained): Promise<RoundTrip> {
    if (this.#unsent !== undefined) this.#write(this.#unsent)
    await this.#opened
    return this.#newTrip(explain)
  }

  readonly #tick = (): number => this.#options.answers.tick

  #newTrip(explain: typeof explained = same): RoundTrip {
    const trip = new RoundTrip({ prepare: this.#prepare, explain, tick: this.#tick, failed: this.#failed })
    this.#trips.push(trip)
    return trip
  }

  readonly #failed = (error: unknown, _answered: number, wire: PgWire | undefined): boolean => {
    this.#forgetNames(error, wire)
    return false
  }

  #send(trip: RoundTrip): void {
    this.#last = trip
    const isQueued = trip === this.#unsent
    if (isQueued) {
      this.#unsent = undefined
      // Otherwise it would cost the event loop a round in which there is nothing to do.
      clearImmediate(this.#patience)
    }
    trip.send()
    if (!isQueued) this.tx.query(trip)
  }

  async script(text: string): Promise<string> {
    if (this.#unsent !== undefined) this.#write(this.#unsent)
    await this.#opened
    this.#scriptAskedAt = this.#tick()
    try {
      return await this.#runner.script(text)
    } finally {
      this.#scriptAskedAt = undefined
    }
  }

  /**
   * Only between queries: while it pipelines, the client takes no queries of other classes, such as our round trips. If it is
   * not idle when it should stop, they will fail, and the connection is discarded.
   */
  pipeline(isOn: boolean): void {
    const client = this.#extras
    if (this.#canFly && client.readyForQuery === true && client.pipeline === !isOn && !hasQueued(this.tx))
      client.pipeline = isOn
  }

  get canPipeline(): boolean {
    const { pipeline } = this.#extras
    return pipeline === true || (this.#canFly && pipeline === false)
  }

  lost(): Error | undefined {
    return this.#lost
  }

  inTransaction(): boolean | undefined {
    const status = this.#opening?.isAnswered === true ? this.#extras.getTransactionStatus?.() : undefined
    return status === undefined || status === null ? undefined : status !== 'I'
  }

  isInside(): boolean {
    return (this.#last?.status ?? this.#extras.getTransactionStatus?.() ?? 'I') !== 'I'
  }

  isMisread(): boolean {
    return this.#isNew || speaksOther(this.tx)
  }

  release(): void {
    if (this.#gone) return
    this.#gone = true
    this.#options.answers.delete(this)
    this.tx.removeListener('error', this.#onError)
    this.tx.release()
  }

  discard(): void {
    if (this.#gone) return
    this.#gone = true
    this.#options.answers.delete(this)
    const wasAlive = this.#lost === undefined
    const isBusy = this.#extras.readyForQuery !== true
    this.#lost ??= new Error('Connection terminated by the store')
    const { processID } = this.#extras
    this.tx.release(true)
    if (!wasAlive || !isBusy) return
    this.#extras.connection?.stream?.destroy?.()
    if (typeof processID === 'number') this.#options.terminate(processID)
  }

  /** For clients that cannot fly, and for texts that are not worth preparing. */
  get #runner(): PgRunner {
    return new PgRunner(this.tx)
  }

  get #extras(): PgExtras {
    return this.tx as PgExtras
  }
}

/** BEGIN, the seal and the settings. */
const openingSize = 3

/** For callers that look at what the server said. */
function same(error: unknown): unknown {
  return error
}

/** The transaction could not be opened again, because other queries were queued behind it. */
function notOpened(error: unknown): unknown {
  if (!wasLeftOpen(error)) return explained(error)
  return new JustonceError('STORE_BUSY', {
    message: `A transaction could not be begun: ${messageOf(error)}.`,
    cause: error,
  })
}
