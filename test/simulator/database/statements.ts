import type { Session, Statement } from './connection.ts'
import { ServerTransaction } from './server-transaction.ts'
import { type Row, rowName, type Visible } from './sim-database.ts'
import { SimError } from './sim-error.ts'

/** What clients can ask of the simulated server. Each is one round trip. */

export function begin(options: { lockTimeoutMs: number; idleTimeoutMs: number; sealed: boolean }): Statement<void> {
  return (session) => {
    // The session is put right: somebody else may have used it before, and left it as it should not be.
    if (session.transaction !== undefined) session.database.rollback(session.transaction)
    session.left = session.place
    session.place = ''
    session.transaction = new ServerTransaction(session.database.scheduler.now)
    session.transaction.sealed = options.sealed
    session.lockTimeoutMs = options.lockTimeoutMs
    session.idleTimeoutMs = options.idleTimeoutMs
  }
}

/** `breakSeal` is what the store itself does; a careless handler's COMMIT does not know about it. */
export function commit(breakSeal: boolean): Statement<'committed' | 'rolled-back'> {
  return (session) => {
    const { transaction, database } = session
    session.transaction = undefined
    if (transaction === undefined) {
      if (breakSeal) throw new SimError('no-transaction', 'the seal is not there')
      return 'committed'
    }
    if (breakSeal && !transaction.aborted) transaction.sealed = false
    const outcome = database.commit(transaction)
    if (outcome === 'sealed') throw new SimError('seal', 'the seal forbids this commit')
    return outcome
  }
}

export function rollback(): Statement<void> {
  return (session) => {
    if (session.transaction !== undefined) session.database.rollback(session.transaction)
    session.transaction = undefined
  }
}

export function savepoint(name: string): Statement<void> {
  return (session) => usable(session).savepoint(name)
}

export function rollbackTo(name: string): Statement<void> {
  return (session) => {
    if (!session.transaction?.rollbackTo(name)) throw new SimError('no-transaction', `no savepoint ${name}`)
  }
}

/** Every part has a savepoint of its own, so whatever ends a part fails if the boundary before it has not been carried out. */
export function nextPart(open: number): Statement<void> {
  return (session) => {
    endPart(open)(session)
    usable(session).savepoint(`part ${open + 1}`)
  }
}

export function undonePart(open: number): Statement<void> {
  return (session) => {
    rollbackTo(`part ${open}`)(session)
    nextPart(open)(session)
  }
}

export function endPart(open: number): (session: Session) => void {
  return (session) => {
    if (open > 0 && !usable(session).release(`part ${open}`)) throw new SimError('no-transaction', `no part ${open}`)
  }
}

export function inTransaction<T>(
  work: (transaction: ServerTransaction, session: Session) => T | Promise<T>,
): Statement<T> {
  return async (session) => {
    if (session.transaction !== undefined) return await work(usable(session), session)
    // Outside a transaction every statement commits by itself: that is how a broken handler's writes escape.
    const own = new ServerTransaction(session.database.scheduler.now)
    own.place = session.place
    try {
      const value = await work(own, session)
      session.database.commit(own)
      return value
    } catch (error) {
      session.database.rollback(own)
      throw error
    }
  }
}

/** Inserts unless the key is taken; waits while a rival's insert is undecided. */
export async function insertIfAbsent(
  session: Session,
  transaction: ServerTransaction,
  table: string,
  key: string,
  row: Row,
): Promise<boolean> {
  await session.database.lock(transaction, table, key, session.lockTimeoutMs)
  if (session.database.read(transaction, table, key) !== undefined) {
    session.database.unlock(transaction, table, key)
    return false
  }
  transaction.write(rowName(table, key, transaction.place), row)
  return true
}

export async function update(
  session: Session,
  transaction: ServerTransaction,
  table: string,
  key: string,
  change: (row: Row | undefined) => Row | undefined,
): Promise<void> {
  await session.database.lock(transaction, table, key, session.lockTimeoutMs)
  transaction.write(rowName(table, key, transaction.place), change(session.database.read(transaction, table, key)))
}

/** Locks a row as it is, without waiting: undefined for one that is gone, that another holds, or that does not match. */
export async function lockIfFree(
  session: Session,
  transaction: ServerTransaction,
  table: string,
  key: string,
  matches: (row: Row) => boolean,
): Promise<Row | undefined> {
  const { database } = session
  const row = database.read(transaction, table, key)
  if (row === undefined || !matches(row) || database.isLockedByOther(transaction, table, key)) return undefined
  await database.lock(transaction, table, key, session.lockTimeoutMs)
  return row
}

/** Rows that match, locked, without those that others hold. */
export async function takeSkippingLocked(
  session: Session,
  transaction: ServerTransaction,
  table: string,
  limit: number,
  matches: (row: Row, all: readonly Visible[]) => boolean,
  order: (a: Row, b: Row) => number = () => 0,
): Promise<Visible[]> {
  const { database } = session
  const taken: Visible[] = []
  const all = database.scan(transaction, table)
  for (const candidate of all.toSorted((a, b) => order(a.row, b.row))) {
    if (taken.length >= limit) break
    // As it is now: a rival may have been here since the look.
    const row = await lockIfFree(session, transaction, table, candidate.key, (each) => matches(each, all))
    if (row !== undefined) taken.push({ key: candidate.key, row })
  }
  return taken
}

function usable({ transaction }: Session): ServerTransaction {
  if (transaction === undefined) throw new SimError('no-transaction', 'there is no transaction')
  if (transaction.aborted) throw new SimError('aborted', 'current transaction is aborted')
  return transaction
}
