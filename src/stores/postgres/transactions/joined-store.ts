import type { Inbox, JoinedStore } from '../../../contracts/index.ts'
import { txNotOpen } from '../../../errors/index.ts'
import { NestedTurns } from '../../shared/nested-turns.ts'
import { systemTimers } from '../../shared/system-timers.ts'
import type { Connections, Runner } from '../connection.ts'
import { classify, sqlState } from '../errors.ts'
import { inOurEncoding } from './left-open.ts'
import type { OpenTransactions } from './open-transaction.ts'

export interface JoinedParts<Tx> {
  readonly name: string
  readonly connections: Connections<Tx>
  readonly transactions: OpenTransactions<Tx>
  readonly inbox: Inbox<Tx>
}

/** How long one savepoint may make the next one of the same transaction wait. */
const patienceMs = 60_000

const turns = new NestedTurns(systemTimers, patienceMs)

/** The same name may be used at several depths: the innermost counts, and savepoints nest like the calls. */
const savepointName = 'justonce_joined'

export function joinedStore<Tx>({ name, connections, transactions, inbox }: JoinedParts<Tx>, tx: Tx): JoinedStore<Tx> {
  const runner = transactions.runner(tx)
  return {
    name,
    guarantee: 'atomic',
    tx,
    inbox,
    classify,
    savepoint: (work) => turns.run(tx as object, () => inSavepoint(runner, work)),
    lend: (lent, options) =>
      transactions.find(lent)?.lend(connections, options) ??
      connections.lender(lent, undefined, { isOver: () => false })(options),
  }
}

async function inSavepoint<T>(runner: Runner, work: () => Promise<T>): Promise<T> {
  // Outside a transaction Postgres refuses this, so nothing is claimed there either.
  await runner.script(`SAVEPOINT ${savepointName}; ${inOurEncoding}`).catch(asNotOpen)
  try {
    const value = await work()
    await runner.script(`RELEASE SAVEPOINT ${savepointName}`)
    return value
  } catch (error) {
    await runner
      .script(`ROLLBACK TO SAVEPOINT ${savepointName}; RELEASE SAVEPOINT ${savepointName}`)
      // The error of the work matters more. If this fails, the caller's next statement fails anyway.
      .catch(() => {})
    throw error
  }
}

function asNotOpen(error: unknown): never {
  throw sqlState(error) === '25P01'
    ? txNotOpen('Give the client on which BEGIN was run, or the sql that sql.begin() gives.', error)
    : error
}
