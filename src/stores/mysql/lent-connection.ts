import type { LoanOptions } from '../../contracts/index.ts'
import { CallLedger, type LedgerLoan, type LedgerSite } from '../sql/call-ledger.ts'
import { lentClient, type Method } from '../sql/lent-client.ts'
import { rejected } from '../sql/rejected.ts'
import type { MysqlConnectionShape } from './client-shapes.ts'
import { withoutValues } from './errors.ts'
import { type LoanRules, ledgerRules } from './ledger-rules.ts'
import type { Keeper } from './session-keeper.ts'
import { isHarmless } from './transaction-control.ts'

/** Members that end the transaction or detach the connection from it. */
const ending = new Set<PropertyKey>([
  ...['beginTransaction', 'commit', 'rollback', 'release', 'end', 'destroy', 'reset', 'changeUser', 'connect', 'close'],
  ...[Symbol.dispose, Symbol.asyncDispose],
])

/** Members that would bypass `query`. */
const hidden = new Set<PropertyKey>(['connection', 'pool'])

interface PreparedStatement {
  execute(values: unknown): Promise<unknown>
  close(): Promise<void>
}

/** What all loans of one transaction have in common. */
export interface LentConnectionSite extends LedgerSite {
  readonly rules: LoanRules
  /** One for each loan. */
  keeper(): Keeper
  /** Settles like the promise, or rejects if its connection is gone. */
  untilGone<T>(promise: Promise<T>): Promise<T>
}

/** The native connection as a borrower sees it: the same members, but every statement goes through the ledger. */
export function lentConnection<Native extends MysqlConnectionShape>(
  native: Native,
  options: LoanOptions,
  site: LentConnectionSite,
): LedgerLoan<Native> {
  const { rules } = site
  const keeper = site.keeper()
  const ledger = new CallLedger(options, site, ledgerRules(rules))
  const watched = (sql: string | undefined, run: () => Promise<unknown>): Promise<unknown> =>
    ledger.watched(sql, () => {
      if (sql !== undefined && !isHarmless(sql)) keeper.before(sql, rules.reading)
      return site.untilGone(run())
    })
  const methods = new Map<PropertyKey, Method>([
    [
      'query',
      (sql, values) =>
        watched(written(native, sql, values), () =>
          silent(native.query(sql, values), hasValues(sql, values) && textOf(sql)),
        ),
    ],
    ['execute', (sql, values) => watched(textOf(sql), () => silent(call(native, 'execute', sql, values), textOf(sql)))],
    [
      'prepare',
      (sql) => {
        const refusal = ledger.preparing(textOf(sql))
        const made = ledger.watched(undefined, () => site.untilGone(call(native, 'prepare', sql)), refusal)
        return made.then((statement) => lentStatement(statement, textOf(sql)))
      },
    ],
    ['ping', () => watched(undefined, () => call(native, 'ping'))],
  ])
  const refuse = (what: string): unknown => rejected(ledger.controlled(what))
  const loan = ledger.loan(lentClient(native, { methods, hidden, ending, refuse }))
  return {
    ...loan,
    end() {
      const report = loan.end()
      keeper.end()
      return report
    },
  }

  /** A prepared statement lives as long as the connection, so it must not outlive the loan. */
  function lentStatement(statement: unknown, sql: string | undefined): unknown {
    return new Proxy(statement as PreparedStatement, {
      get(target, name) {
        if (name === 'execute') return (values: unknown) => watched(sql, () => silent(target.execute(values)))
        if (name === 'statement') return undefined
        const member: unknown = Reflect.get(target, name, target)
        return typeof member === 'function' ? member.bind(target) : member
      },
    })
  }
}

function call(native: MysqlConnectionShape, name: string, ...values: readonly unknown[]): Promise<unknown> {
  const given = values.at(-1) === undefined ? values.slice(0, -1) : values
  return Reflect.apply((native as unknown as Record<string, Method>)[name] as Method, native, given) as Promise<unknown>
}

/** Removes the values from errors. A text into which the borrower itself has written values is not shown at all. */
function silent(promise: Promise<unknown>, text?: string | false): Promise<unknown> {
  return promise.catch((error: unknown) => {
    throw withoutValues(error, text === false ? undefined : text)
  })
}

function valuesOf(sql: unknown, given: unknown): unknown {
  return given ?? (sql as { values?: unknown } | null | undefined)?.values
}

function hasValues(sql: unknown, given: unknown): boolean {
  return valuesOf(sql, given) !== undefined
}

/** The text, with the values inserted if they may be more than values: `SET ?` with an object, `SET ?? = 1`. */
function written(native: MysqlConnectionShape, sql: unknown, given: unknown): string | undefined {
  const text = textOf(sql)
  const values = valuesOf(sql, given)
  if (text === undefined || values === undefined || isHarmless(text)) return text
  const { format } = native as { format?: (text: string, values: unknown) => string }
  return typeof format === 'function' ? Reflect.apply(format, native, [text, values]) : text
}

function textOf(sql: unknown): string | undefined {
  const text = typeof sql === 'string' ? sql : (sql as { sql?: unknown } | null | undefined)?.sql
  return typeof text === 'string' ? text : undefined
}
