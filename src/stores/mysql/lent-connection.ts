import type { Loan } from '../../contracts/index.ts'
import { CallLedger, type LedgerOptions } from './call-ledger.ts'
import type { MysqlConnectionShape } from './client-shapes.ts'

type Method = (...values: unknown[]) => unknown

/** These end the transaction, or take the connection away from it. */
const ending = new Set<PropertyKey>([
  ...['beginTransaction', 'commit', 'rollback', 'release', 'end', 'destroy', 'reset', 'changeUser', 'connect', 'close'],
  ...[Symbol.dispose, Symbol.asyncDispose],
])

/** The ways around `query`. */
const hidden = new Set<PropertyKey>(['connection', 'pool'])

interface PreparedStatement {
  execute(values: unknown): Promise<unknown>
  close(): Promise<void>
}

export interface LentConnection<Native> extends Loan<Native> {
  readonly ledger: CallLedger
}

/** The native connection as a borrower sees it: the same members, and every statement behind the ledger. */
export function lentConnection<Native extends MysqlConnectionShape>(
  native: Native,
  options: LedgerOptions,
): LentConnection<Native> {
  const ledger = new CallLedger(options)
  const methods = new Map<PropertyKey, Method>([
    ['query', (sql, values) => watched(ledger, textOf(sql), () => native.query(sql, values))],
    ['execute', (sql, values) => watched(ledger, textOf(sql), () => call(native, 'execute', sql, values))],
    [
      'prepare',
      (sql) => watched(ledger, textOf(sql), () => call(native, 'prepare', sql)).then((it) => lentStatement(it, ledger)),
    ],
    ['ping', () => watched(ledger, undefined, () => call(native, 'ping'))],
  ])
  const tx: Native = new Proxy(native, {
    get(target, name) {
      const own = methods.get(name)
      if (own !== undefined) return own
      if (hidden.has(name)) return undefined
      const member: unknown = Reflect.get(target, name, target)
      if (typeof member !== 'function' || name === 'constructor') return member
      const method = ending.has(name) ? refused(`${String(name)}()`, ledger) : onNative(member as Method, target)
      methods.set(name, method)
      return method
    },
  })
  return {
    tx,
    ledger,
    openCalls: () => ledger.openCalls(),
    settled: () => ledger.settled(),
    end: () => ledger.end(),
    broken: () => ledger.broken(),
    trouble: () => ledger.trouble(),
  }

  function onNative(member: Method, target: Native): Method {
    return (...values) => {
      const result = Reflect.apply(member, target, values)
      return result === target ? tx : result
    }
  }
}

/** A statement that was prepared in a transaction lives as long as the connection: it must not outlive the loan. */
function lentStatement(statement: unknown, ledger: CallLedger): unknown {
  return new Proxy(statement as PreparedStatement, {
    get(target, name) {
      if (name === 'execute') return (values: unknown) => watched(ledger, undefined, () => target.execute(values))
      if (name === 'statement') return undefined
      const member: unknown = Reflect.get(target, name, target)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}

function watched(ledger: CallLedger, sql: string | undefined, run: () => Promise<unknown>): Promise<unknown> {
  const refusal = ledger.refusal(sql)
  if (refusal !== undefined) return rejected(refusal)
  const call = ledger.begin()
  const result = ledger.untilGone(run())
  // This also keeps a call that nobody awaits from being an unhandled rejection: the loan answers for it.
  result.then(call.succeeded, call.failed)
  return result
}

function call(native: MysqlConnectionShape, name: string, ...values: readonly unknown[]): Promise<unknown> {
  const given = values.at(-1) === undefined ? values.slice(0, -1) : values
  return Reflect.apply((native as unknown as Record<string, Method>)[name] as Method, native, given) as Promise<unknown>
}

function refused(what: string, ledger: CallLedger): Method {
  return () => rejected(ledger.controlled(what))
}

function rejected(error: Error): Promise<never> {
  const promise = Promise.reject(error)
  promise.catch(() => {})
  return promise
}

function textOf(sql: unknown): string | undefined {
  const text = typeof sql === 'string' ? sql : (sql as { sql?: unknown } | null | undefined)?.sql
  return typeof text === 'string' ? text : undefined
}
