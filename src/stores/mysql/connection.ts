import type { AnswerWatch, Asker } from '../sql/answer-watch.ts'
import type { CheckOutOptions } from '../sql/checked-out.ts'
import type { MysqlConnectionShape } from './client-shapes.ts'
import { endings } from './endings.ts'
import { errorNumber, isBadSession } from './errors.ts'
import { type Answer, type Runner, runOn, serverFlags } from './runner.ts'
import type { Server } from './server.ts'
import { elsewhere, giveSessionBack, type SessionLimits, takeSession } from './session.ts'
import { quotedName } from './tables.ts'

export interface ConnectionOptions {
  readonly answers: AnswerWatch
  readonly server: Server
  /** Terminates a server session that is still running a statement nobody waits for any more. */
  terminate(threadId: number): void
}

/** A pooled connection that is exclusively ours, from the check-out until `giveBack` or `discard`. */
export class MysqlConnection<Native extends MysqlConnectionShape> implements Runner, Asker {
  readonly native: Native
  readonly server: Server
  readonly lockWaitMs: number | undefined
  readonly #answers: AnswerWatch
  readonly #terminate: (threadId: number) => void
  readonly #waiting = new Set<(error: Error) => void>()
  #sessionTaken = false
  #sessionChanged = false
  #sessionLost = false
  #lost: Error | undefined
  #gone = false
  /** When the statement of ours that has no answer yet was sent. */
  askedAt: number | undefined
  askedBytes = 0
  #isCommitting = false

  constructor(
    native: Native,
    { server, terminate, answers }: ConnectionOptions,
    { lockWaitMs, isPatient }: CheckOutOptions = {},
  ) {
    this.native = native
    this.lockWaitMs = lockWaitMs
    this.#answers = answers
    if (!isPatient) answers.add(this)
    this.server = server
    this.#terminate = terminate
    // Without a listener, a closed connection would be an uncaught error of the process.
    native.on('error', this.#onError)
    native.on('end', this.#onEnd)
  }

  readonly #onError = (error: Error): void => {
    this.#lost ??= error
  }

  readonly #onEnd = (): void => {
    this.#lost ??= Object.assign(new Error('Connection lost: it has ended'), { code: 'PROTOCOL_CONNECTION_LOST' })
  }

  /** The same object for as long as the session lasts; pools with promises wrap it anew at every check-out. */
  get session(): object {
    return (this.native as { readonly connection?: object }).connection ?? this.native
  }

  heardBytes(): number | undefined {
    return (this.session as { readonly stream?: { readonly bytesRead?: number } }).stream?.bytesRead
  }

  async run(sql: string): Promise<Answer> {
    if (this.#lost !== undefined) throw this.#lost
    this.askedAt = this.#answers.tick
    this.askedBytes = sql.length
    this.#isCommitting = sql === endings.commit
    try {
      return await this.untilGone(runOn(this.native, sql, this.server))
    } catch (error) {
      if (isBadSession(error)) this.sessionLost()
      throw error
    } finally {
      this.askedAt = undefined
    }
  }

  /** Settles like the promise, or rejects if the connection is discarded, because mysql2 then never settles it. */
  untilGone<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waiting.add(reject)
      promise.finally(() => this.#waiting.delete(reject)).then(resolve, reject)
    })
  }

  async takeSession(limits: SessionLimits): Promise<void> {
    const sql = takeSession(this.server, limits)
    this.#sessionTaken = true
    const { status } = await this.run(sql).catch(async (error: unknown) => {
      const { sessionDatabase } = this.server
      if (errorNumber(error) !== elsewhere || sessionDatabase === undefined) throw error
      // The previous user has left the connection in another database.
      await this.run(`USE ${quotedName(sessionDatabase)}`)
      return await this.run(sql)
    })
    // Or in a transaction, whose snapshot is old and whose writes we must not commit.
    if ((status & serverFlags.inTransaction) !== 0) await this.run(endings.rollback)
  }

  /** More of the session was changed than `takeSession` changes, so that must be restored, too. */
  sessionChanged(): void {
    this.#sessionChanged = true
  }

  /** The session could not be restored, so nobody must get it again. */
  sessionLost(): void {
    this.#sessionLost = true
  }

  /** The error if the connection is known to be gone; after that nothing may be run on it. */
  lost(): Error | undefined {
    return this.#lost
  }

  /** Returns a connection that is known to have no open transaction to the pool. Nobody needs to wait for it. */
  async giveBack(): Promise<void> {
    if (this.#gone) return
    if (this.#sessionLost) return this.discard()
    try {
      if (this.#sessionTaken) await this.run(giveSessionBack(this.server, { all: this.#sessionChanged }))
    } catch {
      return this.discard()
    }
    if (this.#gone) return
    this.#gone = true
    this.#answers.delete(this)
    this.native.removeListener('error', this.#onError)
    this.native.removeListener('end', this.#onEnd)
    this.native.release()
  }

  giveUp(error: Error): void {
    // A commit may be waiting for a replica: then its transaction must not look as if it were durable.
    if (this.#isCommitting) this.#lost ??= error
    this.discard(error)
  }

  /** The connection is never used again. What runs on it is cut off, here and in the server. */
  discard(why?: Error): void {
    if (this.#gone) return
    this.#gone = true
    this.#answers.delete(this)
    const wasAlive = this.#lost === undefined
    this.#lost ??= why
    this.#onEnd()
    const { threadId } = this.native
    this.native.destroy()
    for (const reject of [...this.#waiting]) reject(this.#lost as unknown as Error)
    // Otherwise the server would only notice when the running statement ends, which may be after a long wait for a lock.
    if (wasAlive && typeof threadId === 'number') this.#terminate(threadId)
  }
}
