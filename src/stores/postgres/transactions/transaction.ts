import type { LastWrites, TransactionOptions } from '../../../contracts/index.ts'
import { isJustonceError, JustonceError } from '../../../errors/index.ts'
import { AbortWatch } from '../../sql/abort-watch.ts'
import { defaultLimits } from '../../sql/default-limits.ts'
import type { Answer, Connection, Connections, Opening, Runner } from '../connection.ts'
import { epochText } from '../epoch.ts'
import { explained, isBadSession, isLostConnection, messageOf, sqlState } from '../errors.ts'
import { prepared, type Statement, statement } from '../statement.ts'
import type { Surroundings } from '../surroundings.ts'
import type { Tables } from '../tables.ts'
import { beginText, ourEncoding } from './left-open.ts'
import type { OpenTransaction, OpenTransactions } from './open-transaction.ts'
import { ending, partMissing } from './part-savepoints.ts'
import { breakSealAndCommit, seal, sealMissing } from './seal.ts'

const rollback = statement('ROLLBACK')
const begin = statement(beginText)

/** A claim that travels with the opening may run although the opening has failed. It must then find nothing to do. */
export const isOpenHere = `current_setting('justonce.is_open', true) = 'yes'`

/** A temporary table that was left in the session must not shadow a table that messages write to. */
const path = `current_setting('search_path')`
const tempLast = `CASE WHEN ${path} LIKE '%pg_temp%' THEN ${path} WHEN ${path} IN ('', '""') THEN 'pg_temp'
  ELSE ${path} || ', pg_temp' END`

/** The settings are local to the transaction, so they also work behind a pooler. Returns the epoch. */
export function settingsStatement(tables: Tables, around: Surroundings): Statement {
  const unseen = around.unseen?.map((name) => `, current_setting('${name}', true)`) ?? []
  return prepared(
    'settings',
    `SELECT ${epochText(tables, around)}, set_config('lock_timeout', $1::text, true),
            set_config('idle_in_transaction_session_timeout', $2::text, true),
            set_config('statement_timeout', coalesce($3::text, current_setting('statement_timeout')), true),
            set_config('justonce.is_open', 'yes', true), set_config('client_encoding', '${ourEncoding}', true),
            ${path}, set_config('search_path', ${tempLast}, true), current_setting('role')${unseen.join('')}`,
  )
}

type Work<Tx, T> = (tx: Tx, lastWrites: LastWrites) => Promise<T>

export interface TransactionParts<Tx> {
  readonly connections: Connections<Tx>
  readonly transactions: OpenTransactions<Tx>
  readonly settings: Statement
  readonly unseen: Surroundings['unseen']
}

export async function runTransaction<Tx, T>(
  { connections, transactions, settings, unseen }: TransactionParts<Tx>,
  work: Work<Tx, T>,
  {
    lockTimeoutMs = defaultLimits.lockTimeoutMs,
    idleTimeoutMs = defaultLimits.idleTimeoutMs,
    statementTimeoutMs,
    giveUpAfterMs,
    signal,
    isCutOff = () => false,
  }: TransactionOptions,
): Promise<T> {
  const watch = new AbortWatch(signal)
  try {
    const connection = await connections.checkOut({ giveUpAfterMs, watch, lockWaitMs: lockTimeoutMs })
    const statementTimeout = statementTimeoutMs === undefined ? null : milliseconds(statementTimeoutMs)
    const settingValues = [milliseconds(lockTimeoutMs), milliseconds(idleTimeoutMs), statementTimeout]
    return await runOn(connection, { transactions, watch, isCutOff, unseen }, work, {
      begin,
      seal,
      settings,
      settingValues,
    })
  } finally {
    watch.stop()
  }
}

async function runOn<Tx, T>(
  connection: Connection<Tx>,
  {
    transactions,
    watch,
    isCutOff,
    unseen,
  }: Pick<TransactionParts<Tx>, 'transactions' | 'unseen'> & {
    readonly watch: AbortWatch
    isCutOff(error: unknown): boolean
  },
  work: Work<Tx, T>,
  opening: Opening,
): Promise<T> {
  const answer = opened(connection, opening)
  const transaction = transactions.add(connection, answer, unseen)
  let failed: Failed | undefined
  try {
    if (!connection.holdsBack) await watch.until(answer)
    // Called before anything is sent, so that the first statement of the work travels along.
    const value = await watch.until(work(connection.tx, transaction.lastWrites))
    const opening = transaction.opened()
    if (opening !== undefined) await watch.until(opening)
    const lost = connection.lost()
    if (lost !== undefined) throw lost
    watch.throwIfAborted()
    failed = await commit(transaction, watch)
    if (failed !== undefined) throw failed.error
    transactions.close(transaction)
    if (transaction.hasLeftovers) connection.discard()
    else connection.release()
    return value
  } catch (error) {
    transactions.close(transaction)
    // After a failed commit, only an answer from the server tells for certain what a rollback will find.
    if (failed?.isAnswered === false || isCutOff(error)) connection.discard()
    else await undo(transaction, watch, error)
    throw error
  }
}

function opened<Tx>(connection: Connection<Tx>, opening: Opening): Promise<Answer> {
  try {
    return connection.open(opening)
  } catch (error) {
    connection.discard()
    throw error
  }
}

export async function setLockTimeout(
  runner: Runner,
  lockTimeoutMs: number = defaultLimits.lockTimeoutMs,
): Promise<void> {
  await runner.script(`SET LOCAL lock_timeout = ${milliseconds(lockTimeoutMs)}`)
}

/** 0 would mean no limit. */
function milliseconds(ms: number): string {
  return String(Math.max(1, Math.min(2_147_483_647, Math.ceil(ms))))
}

interface Failed {
  readonly error: unknown
  /** The server has refused, and the connection is as good as before. */
  readonly isAnswered: boolean
}

/** Commits along with the writes that were left for it. If one of those fails, so does everything behind it. */
async function commit<Tx>(
  { connection, left, part }: OpenTransaction<Tx>,
  watch: AbortWatch,
): Promise<Failed | undefined> {
  let done = 0
  try {
    const calls = left.map(({ call }) => call)
    const { written, tag } = connection.finish(calls, [...ending(part), ...breakSealAndCommit])
    // Only the first failure is reported; the others are its consequences.
    if (written.length > 0) for (const each of [...written, tag]) each.catch(() => {})
    for (; done < written.length; done++) await watch.until(written[done] as Promise<unknown>)
    const answer = await watch.until(tag)
    if (answer === 'COMMIT') return undefined
    const message = `Postgres answered the commit with ${answer}.`
    return { error: new JustonceError('COMMIT_ROLLED_BACK', { message }), isAnswered: false }
  } catch (error) {
    // Some clients explain what their statements fail with.
    const refused = commitError(isJustonceError(error) ? (error.cause ?? error) : error)
    const isAnswered = isAnswer(refused)
    const blamed = isAnswered && !isJustonceError(refused, 'TX_ABORTED') ? left[done] : undefined
    return { error: blamed === undefined ? refused : blamed.blame(explained(refused)), isAnswered }
  }
}

/** The server refused: a deferred constraint, an earlier failure, or a write that was left for the commit. */
function isAnswer(error: unknown): boolean {
  return isJustonceError(error, 'TX_ABORTED') || sqlState(error) !== undefined
}

function commitError(error: unknown): unknown {
  const state = sqlState(error)
  if (state === '25P02') return abortedError(error)
  if (state === sealMissing || state === partMissing) {
    return new JustonceError('TX_ENDED', {
      message: 'The transaction, or its last part, no longer existed when it was to be committed.',
      cause: error,
    })
  }
  // Without an answer from the server, or with one that it sent while shutting down, the commit may have succeeded.
  if (state !== undefined && state !== '40003' && !isLostConnection(error)) return error
  return new JustonceError('COMMIT_UNKNOWN', {
    message: `The answer to the commit did not come: ${messageOf(error)}.`,
    cause: error,
  })
}

export function abortedError(cause: unknown): JustonceError {
  return new JustonceError('TX_ABORTED', {
    message: 'Postgres refuses to go on with the transaction, because an earlier statement in it failed.',
    cause,
  })
}

/** For our statements that directly follow those of a handler. */
export async function sayingAborted<T>(statement: Promise<T>): Promise<T> {
  try {
    return await statement
  } catch (error) {
    throw sqlState(error) === '25P02' ? abortedError(error) : error
  }
}

/** The connection is returned only if the rollback succeeded and no call is in progress on it. */
async function undo<Tx>(transaction: OpenTransaction<Tx>, watch: AbortWatch, error: unknown): Promise<void> {
  const { connection } = transaction
  try {
    // Inspecting what a handler has thrown may itself throw.
    if (isBadSession(error) || watch.aborted || connection.lost() !== undefined || transaction.openCalls() > 0)
      return connection.discard()
    const tag = await watch.until(connection.runAll([rollback]))
    if (tag === 'ROLLBACK' && !transaction.hasLeftovers) connection.release()
    else connection.discard()
  } catch {
    connection.discard()
  }
}
