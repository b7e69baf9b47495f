import { Stream } from 'node:stream'
import type { LoanOptions } from '../../../contracts/index.ts'
import { CallLedger, type LedgerLoan, type LedgerSite } from '../../sql/call-ledger.ts'
import type { PostgresJsShape } from '../client-shapes.ts'
import type { Lender, LendSite } from '../connection.ts'
import { ledgerRules } from '../transactions/ledger-rules.ts'
import { sayingAborted } from '../transactions/transaction.ts'
import { guardedSql } from './guarded-sql.ts'
import type { JsConnection } from './js-connection.ts'
import { answerIn } from './js-runner.ts'
import type { JsQuery } from './query.ts'

/** Lends the reserved `sql`: helpers and fragments work as usual, but every query goes through the ledger of its borrower. */
export function sqlLender<Sql extends PostgresJsShape>(
  sql: Sql,
  connection: JsConnection<Sql> | undefined,
  given: LendSite,
): Lender<Sql> {
  const native = connection?.native ?? sql
  const site: LedgerSite = {
    ...given,
    lost: () => connection?.lost(),
    tidy: (statements) => sayingAborted(connection?.script(statements.join('; ')) ?? sql.unsafe(statements.join('; '))),
    beforeChange(names) {
      const look = given.lookBefore?.(names)
      if (look === undefined) return
      // Sent the same way as the borrower's own call, and so right before it. If this fails, that call fails as well.
      const send = async (): Promise<void> =>
        look.found(answerIn(await native.unsafe(look.text).raw().execute()).rows[0] ?? [])
      void (connection?.ready()?.then(send) ?? send()).catch(() => {})
    },
  }
  return (options) => lentSql(native, connection, options, site)
}

function lentSql<Sql extends PostgresJsShape>(
  native: Sql,
  connection: JsConnection<Sql> | undefined,
  options: LoanOptions,
  site: LedgerSite,
): LedgerLoan<Sql> {
  const ledger = new CallLedger(options, site, ledgerRules)

  function follow(query: JsQuery): void {
    const call = ledger.begin()
    const stop = connection?.watch(query, (error) => query.reject(error))
    connection?.watchSending(query)
    // Cursors replace these functions as they proceed.
    intercept(query, 'resolve', (value) => {
      // Of a COPY the stream comes first, and the result when the server is ready for something else.
      if (value instanceof Stream) return void value.on('error', () => {})
      stop?.()
      call.succeeded()
    })
    intercept(query, 'reject', (error) => {
      connection?.rejecting(query, error)
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
