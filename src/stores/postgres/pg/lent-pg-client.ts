import { type Call, CallLedger, type LedgerSite } from '../../sql/call-ledger.ts'
import { lentClient, type Method } from '../../sql/lent-client.ts'
import type { PgClientShape } from '../client-shapes.ts'
import type { Connection, Lender, LendSite } from '../connection.ts'
import { isVanished, sqlState } from '../errors.ts'
import { ledgerRules } from '../transactions/ledger-rules.ts'
import { sayingAborted } from '../transactions/transaction.ts'
import type { Cell } from '../values-as-text.ts'
import { GatheredStatements } from './gathered-statements.ts'
import { native, nativeOf } from './natives.ts'
import { asText } from './pg-runner.ts'
import { plainQueries, type SendPlain } from './plain-query.ts'

type Callback = (error: unknown, result?: unknown) => void

/** A query object that speaks the protocol itself: `pg.Query`, a cursor, a stream. */
interface Submittable {
  readonly text?: unknown
  readonly cursor?: { readonly text?: unknown }
  submit: Method
  handleError(error: unknown, wire?: unknown): void
  handleReadyForQuery?: Method
}

/** Members that end the client or detach it from the transaction. */
const ending = new Set<PropertyKey>(['release', 'end', 'connect', 'cancel', Symbol.dispose, Symbol.asyncDispose])

/** The member that would bypass `query`. */
const hidden = new Set<PropertyKey>(['connection'])

/** Lends the native client: a borrower sees the same members, but every query goes through its ledger. */
export function pgLender<Client extends PgClientShape>(
  client: Client,
  connection: Connection<Client> | undefined,
  given: LendSite,
): Lender<Client> {
  const own = new Map<PropertyKey, unknown>([[native, nativeOf(client)]])
  const gathered = GatheredStatements.of(client, nativeOf(client))
  const sendPlain = plainQueries(client, nativeOf(client))
  const gather = plainQueries(client, nativeOf(client), gathered)
  const site: LedgerSite = {
    ...given,
    lost: () => connection?.lost(),
    hasEnded: () => connection?.inTransaction() === false,
    tidy: (statements) => sayingAborted(client.query(statements.join('; '))),
    beforeChange(names) {
      const look = given.lookBefore?.(names)
      if (look === undefined) return
      const answer: Promise<{ rows: Cell[][] }> = client.query({ text: look.text, rowMode: 'array', types: asText })
      // If this fails, the next statement fails as well.
      answer.then(({ rows: [row = []] }) => look.found(row)).catch(() => {})
    },
  }
  return (options) => {
    const ledger = new CallLedger(options, site, rules)
    const query = lentQuery(
      client,
      ledger,
      options.interleaved ? gather : sendPlain,
      options.interleaved ? gathered : undefined,
    )
    const methods = new Map<PropertyKey, Method>([['query', query]])
    const refuse = (what: string): never => {
      throw ledger.controlled(what)
    }
    return ledger.loan(lentClient(client, { methods, hidden, ending, own, refuse }))
  }
}

const rules = { ...ledgerRules, spoils }

/**
 * A named statement that the server does not know fails every time. `pg` causes that itself: if a value cannot be sent, it
 * has the server forget the statement, and later takes it for prepared.
 */
function spoils(error: unknown): boolean {
  return isVanished(error) || sqlState(error) === undefined
}

function lentQuery(
  client: PgClientShape,
  ledger: CallLedger,
  sendPlain: SendPlain,
  gathered: GatheredStatements | undefined,
): Method {
  const send: Method = (...values) => {
    gathered?.flush()
    return client.query(...(values as [unknown]))
  }
  return (config, values, callback) => {
    if (isSubmittable(config)) return submit(send, ledger, config, [values, callback])
    const text = textOf(config)
    if (hasRows(config)) ledger.shared('rows in portions')
    const given = callbackIn(config, values, callback)
    if (given === undefined) {
      return ledger.watched(text, () => sendPlain(config, values) ?? (send(config, values) as Promise<unknown>))
    }
    const refusal = ledger.refusal(text)
    if (refusal !== undefined) return void process.nextTick(given, refusal)
    const reporter = reporting(ledger.begin(), given)
    const plain = typeof config === 'string' ? { text: config } : { ...(config as object) }
    return send({ ...plain, ...(Array.isArray(values) ? { values } : {}), callback: reporter })
  }
}

function reporting(call: Call, given: Callback): Callback {
  return (error, result) => {
    if (error) call.failed(error)
    else call.succeeded()
    given(error, result)
  }
}

/** A cursor is in progress until the server is ready for something else, which happens when the cursor is closed. */
function submit(send: Method, ledger: CallLedger, query: Submittable, rest: readonly unknown[]): unknown {
  const text = query.text ?? query.cursor?.text
  const refusal = ledger.refusal(typeof text === 'string' ? text : undefined) ?? ledger.shared('a cursor or a stream')
  if (refusal !== undefined) {
    process.nextTick(() => query.handleError(refusal))
    return query
  }
  const call = ledger.begin()
  const { handleError, handleReadyForQuery } = query
  query.handleError = (error, wire) => {
    call.failed(error)
    handleError.call(query, error, wire)
  }
  query.handleReadyForQuery = (...values) => {
    call.succeeded()
    return handleReadyForQuery?.apply(query, values)
  }
  return send(query, ...rest)
}

function isSubmittable(config: unknown): config is Submittable {
  return typeof (config as Partial<Submittable> | null | undefined)?.submit === 'function'
}

/** A client that pipelines can neither read rows in portions nor keep a cursor open. */
function hasRows(config: unknown): boolean {
  return Boolean((config as { readonly rows?: unknown } | null | undefined)?.rows)
}

function textOf(config: unknown): string | undefined {
  const text = typeof config === 'string' ? config : (config as { text?: unknown } | null | undefined)?.text
  return typeof text === 'string' ? text : undefined
}

function callbackIn(config: unknown, values: unknown, callback: unknown): Callback | undefined {
  const own = (config as { callback?: unknown } | null | undefined)?.callback
  return [callback, values, own].find((each) => typeof each === 'function') as Callback | undefined
}
