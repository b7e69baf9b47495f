import { setTimeout as pause } from 'node:timers/promises'
import type { RecordKey, TransactionOptions } from '../../contracts/index.ts'
import { goneFrom, isJustonceError, JustonceError } from '../../errors/index.ts'
import { unlessAborted } from '../shared/unless-aborted.ts'
import { commitArguments } from './commit-arguments.ts'
import { type Connection, type ScriptArgument, texts } from './connection.ts'
import { classify } from './errors.ts'
import { unreadable } from './record-value.ts'
import type { TxFactory } from './redis-tx.ts'
import { releaseScript, renewScript } from './scripts/claim.ts'
import { commitScript } from './scripts/commit.ts'
import { Transaction } from './transaction.ts'

export interface TransactionSettings {
  readonly recordTtlMs: number
  readonly leaseMs: number
  readonly commandTimeoutMs: number
}

const patienceMs = 10_000

/** The script remembers for a minute that it has committed. */
const repeatableMs = 55_000

export class Transactions<Tx extends object> {
  readonly connection: Connection
  readonly factory: TxFactory<Tx>
  readonly leaseMs: number
  readonly #recordTtlMs: number
  readonly #repeatsForMs: number

  constructor(connection: Connection, factory: TxFactory<Tx>, settings: TransactionSettings) {
    this.connection = connection
    this.factory = factory
    this.leaseMs = settings.leaseMs
    this.#recordTtlMs = settings.recordTtlMs
    this.#repeatsForMs = Math.min(settings.leaseMs, repeatableMs - settings.commandTimeoutMs)
  }

  async run<T>(work: (tx: Tx) => Promise<T>, options: TransactionOptions = {}): Promise<T> {
    const { lockTimeoutMs = patienceMs, signal } = options
    const transaction = new Transaction(this.leaseMs, lockTimeoutMs, signal)
    const tx = this.factory.own(transaction)
    const renewing = setInterval(() => this.#renew(transaction), this.leaseMs / 3)
    renewing.unref()
    try {
      const value = await unlessAborted(async () => work(tx), signal)
      signal?.throwIfAborted()
      transaction.ended = true
      if (transaction.broken !== undefined) throw transaction.broken
      await this.#commit(transaction)
      return value
    } catch (error) {
      transaction.ended = true
      const givenUp = this.#giveUp(transaction)
      // If the server does not answer, nothing waits for it once more: callers hold everything until it is back, and must know. The
      // commit may have been sent again until then, for as long as the claims were ours.
      if (classify(error) !== 'unavailable') await givenUp
      throw error
    } finally {
      clearInterval(renewing)
    }
  }

  async #commit(transaction: Transaction): Promise<void> {
    const args = commitArguments(transaction, this.#recordTtlMs)
    if (args === undefined) return
    const [answer, ...rest] = await this.#sendCommit(transaction, args)
    if (answer === 'lost') {
      throw new JustonceError('CLAIM_LOST', { message: `${rest[0]} was no longer ours at the commit.` })
    }
    if (answer === 'gone') throw goneFrom(String(rest[0]))
    // Detected before anything was applied, so it may be retried.
    if (answer === 'denied')
      throw new JustonceError('STORE_CANNOT', {
        message: `The user of the connection may not call ${rest[0]} with the keys that tx.command was given.`,
      })
    if (answer === 'unreadable') throw unreadable(String(rest[0]))
    if (answer === 'partly') throw partlyApplied(transaction, rest)
    if (answer !== 'committed')
      throw new JustonceError('COMMIT_UNKNOWN', {
        message: `Redis answered the commit with ${JSON.stringify(answer)}.`,
      })
  }

  /**
   * What handlers write to Redis was not written if the commit has not happened, and may be done again. What was done elsewhere may
   * not, so the same commit is sent again for as long as the claims are ours. It is applied once.
   */
  async #sendCommit({ held, signal }: Transaction, args: readonly ScriptArgument[]): Promise<string[]> {
    const worksElsewhere = !this.factory.hasCommands && held.size > 0
    const giveUpAt = performance.now() + (worksElsewhere ? this.#repeatsForMs : 0)
    for (let pauseMs = 25; ; pauseMs = Math.min(pauseMs * 2, 500)) {
      try {
        return texts(await this.connection.runWith(commitScript, args))
      } catch (error) {
        if (!isJustonceError(error, 'STORE_UNREACHABLE')) throw error
        if (performance.now() + pauseMs >= giveUpAt || signal?.aborted)
          throw new JustonceError('COMMIT_UNKNOWN', { message: 'Redis did not answer the commit.', cause: error })
      }
      await pause(pauseMs)
    }
  }

  /** Never rejects. What cannot be released now expires; a commit that arrives later finds that nothing is its own. */
  async #giveUp({ token, asked: { claims, locks } }: Transaction): Promise<void> {
    if (claims.size + locks.size === 0) return
    // Again after a failure: what ended the transaction may have ended the connection, and the next one comes in a moment.
    for (let pauseMs = 25; pauseMs <= 400; pauseMs *= 4) {
      try {
        await this.connection.runWith(releaseScript, [token, claims.size, ...claims, ...locks])
        return
      } catch {
        // There is already an error, and this one would hide it.
        await pause(pauseMs, undefined, { ref: false })
      }
    }
  }

  async #renew({ token, held, locks }: Transaction): Promise<void> {
    if (held.size + locks.size === 0) return
    try {
      await this.connection.runWith(renewScript, [token, this.leaseMs, held.size, ...held, ...locks])
    } catch {
      // The commit will detect it.
    }
  }
}

/** `failures` are pairs of a group and its error. */
function partlyApplied(transaction: Transaction, failures: readonly string[]): JustonceError {
  const failed = new Set(failures.filter((_, place) => place % 2 === 0).map(Number))
  const errors = failures.filter((_, place) => place % 2 === 1)
  const records = [...transaction.groups].filter(([, group]) => failed.has(group)).map(([name]) => recordOf(name))
  return new JustonceError('PARTLY_APPLIED', {
    message: `${errors.length} commands of a transaction failed, and the others were applied: ${errors[0]}`,
    details: { records, errors },
  })
}

function recordOf(name: string): RecordKey {
  const [handler, key] = JSON.parse(name) as [string, string]
  return { handler, key }
}
