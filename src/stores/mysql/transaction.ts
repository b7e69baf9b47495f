import type { TransactionOptions } from '../../contracts/index.ts'
import { JustonceError } from '../../errors/index.ts'
import { AbortWatch } from '../sql/abort-watch.ts'
import { defaultLimits } from '../sql/default-limits.ts'
import type { MysqlConnectionShape } from './client-shapes.ts'
import type { MysqlConnection } from './connection.ts'
import type { Connections } from './connections.ts'
import { endings } from './endings.ts'
import { deadlock, errorNumber, isLostConnection, isMissingSavepoint, messageOf } from './errors.ts'
import { mark, type OpenTransaction, type OpenTransactions } from './open-transaction.ts'
import type { Claims } from './provisional.ts'
import { type Runner, serverFlags } from './runner.ts'
import type { SessionLimits } from './session.ts'

export interface TransactionParts<Native extends MysqlConnectionShape> {
  readonly connections: Connections<Native>
  readonly transactions: OpenTransactions<Native>
  /** Removes claims that someone has committed without us. */
  takeBack(claims: readonly Claims[]): Promise<void>
}

export async function runTransaction<Native extends MysqlConnectionShape, T>(
  { connections, transactions, takeBack }: TransactionParts<Native>,
  work: (tx: Native) => Promise<T>,
  { giveUpAfterMs, signal, isCutOff = () => false, ...limits }: TransactionOptions,
): Promise<T> {
  const watch = new AbortWatch(signal)
  try {
    const connection = await connections.checkOut({ giveUpAfterMs, watch, lockWaitMs: limits.lockTimeoutMs })
    return await runOn(connection, { transactions, takeBack, watch, isCutOff, limits }, work)
  } finally {
    watch.stop()
  }
}

async function runOn<Native extends MysqlConnectionShape, T>(
  connection: MysqlConnection<Native>,
  how: {
    readonly transactions: OpenTransactions<Native>
    readonly takeBack: TransactionParts<Native>['takeBack']
    readonly watch: AbortWatch
    isCutOff(error: unknown): boolean
    readonly limits: Limits
  },
  work: (tx: Native) => Promise<T>,
): Promise<T> {
  const { transactions, takeBack, watch, isCutOff } = how
  const limits = withDefaults(how.limits)
  const transaction = transactions.add(connection, limits)
  let isCommitting = false
  try {
    await watch.until(open(transaction, limits))
    const value = await watch.until(begun(work, transaction.tx))
    const failure = connection.lost() ?? transaction.broken()
    if (failure !== undefined) throw failure
    watch.throwIfAborted()
    // Checked before anything is resumed, because outside the transaction that could be durable at once.
    await watch.until(checkStillOpen(connection))
    await watch.until(transaction.suspension.resume())
    isCommitting = true
    await commit(connection, watch)
    transactions.close(transaction)
    void connection.giveBack()
    return value
  } catch (error) {
    transactions.close(transaction)
    if (isCommitting) connection.discard()
    else if ((await undo(transaction, watch, isCutOff(error))) !== 'undone')
      await takeBack(transaction.claims).catch(() => {})
    throw error
  }
}

type Limits = Pick<TransactionOptions, 'lockTimeoutMs' | 'idleTimeoutMs' | 'statementTimeoutMs'>

function withDefaults({ lockTimeoutMs, idleTimeoutMs, statementTimeoutMs }: Limits): SessionLimits {
  return {
    lockTimeoutMs: lockTimeoutMs ?? defaultLimits.lockTimeoutMs,
    idleTimeoutMs: idleTimeoutMs ?? defaultLimits.idleTimeoutMs,
    statementTimeoutMs,
  }
}

async function open(
  { connection, reading }: OpenTransaction<MysqlConnectionShape>,
  limits: SessionLimits,
): Promise<void> {
  await connection.takeSession(limits)
  const { status } = await connection.run(`SAVEPOINT ${mark}`)
  reading.backslashesAreLetters = (status & serverFlags.backslashesAreLetters) !== 0
}

async function begun<Native, T>(work: (tx: Native) => Promise<T>, tx: Native): Promise<T> {
  return await work(tx)
}

/** Detects a transaction that a procedure, or an error that the handler swallowed, has ended. It must not be committed. */
async function checkStillOpen(connection: Runner): Promise<void> {
  try {
    await connection.run(`RELEASE SAVEPOINT ${mark}`)
  } catch (error) {
    throw isMissingSavepoint(error) ? endedError(error) : error
  }
}

export function endedError(cause: unknown): JustonceError {
  return new JustonceError('TX_ENDED', {
    message: 'The transaction no longer existed when it was to be committed.',
    cause,
  })
}

/** If the wait for the answer is aborted, the outcome is unknown, too. */
async function commit(connection: Runner, watch: AbortWatch): Promise<void> {
  try {
    await watch.until(connection.run(endings.commit))
  } catch (error) {
    // A cluster refuses with this error, and has rolled everything back. Other errors prove nothing.
    if (errorNumber(error) === deadlock) throw error
    const why =
      errorNumber(error) === undefined || isLostConnection(error)
        ? 'The answer to the commit did not come'
        : 'The commit was answered with an error'
    throw new JustonceError('COMMIT_UNKNOWN', { message: `${why}: ${messageOf(error)}.`, cause: error })
  }
}

/**
 * The connection is returned only if the rollback succeeded and no call is in progress on it. If the transaction had ended
 * before, the rollback has not undone all of it; after a connection was cut off, nobody knows what was done on it last.
 */
async function undo<Native extends MysqlConnectionShape>(
  transaction: OpenTransaction<Native>,
  watch: AbortWatch,
  wasCutOff: boolean,
): Promise<'undone' | 'had ended' | 'cut off'> {
  const { connection } = transaction
  try {
    // The server cannot be asked, but claims are suspended wherever a statement could have committed them.
    if (connection.lost() !== undefined) {
      connection.discard()
      return 'undone'
    }
    if (wasCutOff || watch.aborted || transaction.openCalls() > 0) {
      connection.discard()
      return transaction.touched ? 'cut off' : 'undone'
    }
    const end = await watch.until(checkStillOpen(connection)).then(
      () => 'undone' as const,
      () => 'had ended' as const,
    )
    await watch.until(connection.run(endings.rollback))
    void connection.giveBack()
    return end
  } catch {
    connection.discard()
    return 'cut off'
  }
}
