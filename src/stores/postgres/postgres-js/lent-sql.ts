import type { Loan } from '../../../contracts/index.ts'
import { CallLedger, type LedgerOptions } from '../../sql/call-ledger.ts'
import type { PostgresJsShape } from '../client-shapes.ts'
import { ledgerRules } from '../ledger-rules.ts'
import { guardedSql } from './guarded-sql.ts'
import type { JsConnection } from './js-connection.ts'
import type { JsQuery } from './query.ts'

/** The reserved `sql` as a borrower sees it: helpers and fragments as ever, and every query behind the ledger. */
export function lentSql<Sql extends PostgresJsShape>(
  sql: Sql,
  connection: JsConnection<Sql> | undefined,
  options: Omit<LedgerOptions, 'lost' | 'tidy'>,
): Loan<Sql> {
  const native = connection?.native ?? sql
  const ledger = new CallLedger(
    {
      ...options,
      lost: () => connection?.lost(),
      tidy: async (statements) =>
        await (connection?.script(statements.join('; ')) ?? sql.unsafe(statements.join('; '))),
    },
    ledgerRules,
  )

  function follow(query: JsQuery): void {
    const call = ledger.begin()
    const stop = connection?.watch(query, (error) => query.reject(error))
    // Cursors put other functions in their place as they go on.
    intercept(query, 'resolve', () => {
      stop?.()
      call.succeeded()
    })
    intercept(query, 'reject', (error) => {
      stop?.()
      call.failed(error)
    })
  }

  const tx = guardedSql(native, {
    refusal: (text) => ledger.refusal(text),
    controlled: (what) => ledger.controlled(what),
    started: follow,
    ready: () => connection?.ready(),
  })
  return ledger.loan(tx)
}

function intercept(query: JsQuery, name: 'resolve' | 'reject', first: (value: unknown) => void): void {
  let current = query[name]
  Object.defineProperty(query, name, {
    configurable: true,
    get: () => (value: unknown) => {
      first(value)
      current(value)
    },
    set: (next: (value: unknown) => void) => {
      current = next
    },
  })
}
