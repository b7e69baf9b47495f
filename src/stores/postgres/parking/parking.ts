import type { OrderScope, ParkedTicket, Parking, RecordKey } from '../../../contracts/index.ts'
import { splitWanted } from '../../sql/split-wanted.ts'
import { booleanArray, bytesArray, type Cell, numberArray, textArray } from '../cells.ts'
import type { Answer, ConnectionSource, Runner } from '../connection.ts'
import { keyArrays } from '../inbox/record-cells.ts'
import { parkedIn } from '../rows.ts'
import { statement } from '../statement.ts'
import type { Tables } from '../tables.ts'
import type { OpenTransactions } from '../transactions/open-transaction.ts'
import { swallowed } from '../transactions/swallowed.ts'
import { parkedColumns } from './parked-columns.ts'
import { filterSql } from './parked-filter.ts'
import { parkingStatements } from './parking-statements.ts'

export function postgresParking<Tx>(
  source: Pick<ConnectionSource<Tx>, 'runAlone'>,
  transactions: OpenTransactions<Tx>,
  tables: Tables,
): Parking<Tx> {
  const statements = parkingStatements(tables)
  const columns = parkedColumns(tables)
  const howManyPresent = async (runner: Runner, keys: readonly RecordKey[]): Promise<number> =>
    Number((await runner.run(statements.present, keyArrays(keys))).rows[0]?.[0])
  return {
    async park(tx, messages) {
      if (messages.length === 0) return
      const texts = (pick: (message: (typeof messages)[number]) => string | undefined) => textArray(messages.map(pick))
      const runner = transactions.runner(tx)
      const { count } = await runner.run(statements.park, [
        ...keyArrays(messages),
        texts(({ messageId }) => messageId),
        texts(({ type }) => type),
        texts(({ source: from }) => from),
        texts(({ state }) => state),
        texts(({ reason }) => reason),
        texts(({ errors }) => errors),
        texts(({ shape }) => shape),
        numberArray(messages.map(({ attempts }) => attempts)),
        numberArray(messages.map(({ step }) => step)),
        booleanArray(messages.map(({ independent }) => independent)),
        texts(({ orderKey }) => orderKey),
        numberArray(messages.map(({ delayMs }) => delayMs)),
        bytesArray(messages.map(({ message }) => message.envelope)),
        bytesArray(messages.map(({ message }) => message.body)),
      ])
      // Those that were parked already are not parked again.
      if (count === messages.length) return
      const missing = messages.length - (await howManyPresent(runner, messages))
      if (missing > 0) throw swallowed(`${missing} messages were not parked`)
    },
    async reserve({ limit, forMs, wanted, pastDead, maxBytes }) {
      if (limit <= 0 || wanted.length === 0) return []
      const { whole, pairs } = splitWanted(wanted)
      const { rows } = await source.runAlone(statements.reserve, [
        ...[String(limit), String(forMs), textArray(whole), textArray(pastDead), String(maxBytes)],
        textArray(pairs.map(([handler]) => handler)),
        bytesArray(pairs.map(([, type]) => Buffer.from(type))),
      ])
      return inOrder(rows).map(parkedIn)
    },
    async follow({ handler, key, revision }, { limit, maxBytes, forMs, pastDead }) {
      const values = [handler, key, String(revision), String(limit), String(forMs), String(maxBytes), String(pastDead)]
      const { rows } = await source.runAlone(statements.follow, values)
      return rows.map(parkedIn).sort((a, b) => a.sequence - b.sequence)
    },
    async rebook(bookings, forMs) {
      if (bookings.length === 0) return []
      const begun = numberArray(bookings.map((booking) => booking.begun))
      const { rows } = await source.runAlone(statements.rebook, [...ticketArrays(bookings), begun, String(forMs)])
      const revisions = new Map(rows.map(([place, revision]) => [Number(place), Number(revision)]))
      return bookings.map((_, index) => revisions.get(index + 1))
    },
    async take(tx, tickets) {
      if (tickets.length === 0) return []
      return answeredIn(tickets, await transactions.get(tx).connection.run(statements.take, ticketArrays(tickets)))
    },
    async change(tx, changes) {
      const runner = transactions.runner(tx)
      const done = changes.filter(({ kind }) => kind === 'done')
      const kept = changes.filter((change) => change.kind !== 'done')
      if (done.length > 0) {
        const { count } = await runner.run(statements.remove, keyArrays(done))
        const left = count === done.length ? 0 : await howManyPresent(runner, done)
        if (left > 0) throw swallowed(`${left} parked messages were not removed`)
      }
      if (kept.length === 0) return
      const { count } = await runner.run(statements.change, [
        ...keyArrays(kept),
        textArray(kept.map(({ kind }) => (kind === 'again' ? 'waiting' : 'dead'))),
        numberArray(kept.map(({ attempts }) => attempts)),
        textArray(kept.map(({ reason }) => reason)),
        textArray(kept.map(({ errors }) => errors)),
        textArray(kept.map(({ shape }) => shape)),
        numberArray(kept.map((change) => (change.kind === 'again' ? change.delayMs : undefined))),
      ])
      const unchanged = count === kept.length ? 0 : (await howManyPresent(runner, kept)) - count
      if (unchanged > 0) throw swallowed(`${unchanged} parked messages were not changed`)
    },
    async blocked(tx, scopes) {
      if (scopes.length === 0) return []
      const handlers = textArray(scopes.map(({ handler }) => handler))
      const orderKeys = textArray(scopes.map(({ orderKey }) => orderKey))
      const pastDead = booleanArray(scopes.map((scope) => scope.pastDead))
      // Two statements: one that has waited for a lock does not see what its holder has committed, but the next does.
      const [, seen] = await transactions.get(tx).connection.runInTurn([
        { statement: statements.lockScopes, values: [textArray(scopes.map(scopeName))] },
        { statement: statements.lookAtScopes, values: [handlers, orderKeys, pastDead] },
      ])
      return answeredIn(scopes, seen)
    },
    async list(filter = {}, { limit = 1_000, after = 0, maxBytes = Number.POSITIVE_INFINITY } = {}) {
      const { where, values } = filterSql(filter, tables, [String(limit), String(after), String(maxBytes)])
      const text = `SELECT ${columns} FROM ${tables.parked} JOIN (
          SELECT listed, sum(bytes) OVER (ORDER BY listed) - bytes AS bytes_before FROM (
            SELECT id AS listed, ${bytes} AS bytes FROM ${tables.parked}
            WHERE id > $2::bigint AND ${where} ORDER BY id LIMIT $1::int) AS page) AS fitting ON id = listed
        WHERE bytes_before < $3::float8 ORDER BY id`
      const { rows } = await source.runAlone(statement(text), values)
      return rows.map(parkedIn)
    },
    async count(filter = {}) {
      const { where, values } = filterSql(filter, tables)
      const { rows } = await source.runAlone(statement(`SELECT count(*) FROM ${tables.parked} WHERE ${where}`), values)
      return Number(rows[0]?.[0])
    },
    async waiting() {
      const { rows } = await source.runAlone(statements.waiting, [])
      return rows.map(([handler, type, count]) => ({
        handler: String(handler),
        type: String(type),
        count: Number(count),
      }))
    },
  }
}

const bytes = 'octet_length(envelope) + octet_length(body) + coalesce(octet_length(original_body), 0)'

function ticketArrays(tickets: readonly ParkedTicket[]): Cell[] {
  return [...keyArrays(tickets), numberArray(tickets.map(({ revision }) => revision))]
}

/** By when they were due, which is the last column, and then by their sequence. */
function inOrder(rows: Answer['rows']): Answer['rows'] {
  return [...rows].sort((a, b) => Number(a.at(-1)) - Number(b.at(-1)) || Number(a[13]) - Number(b[13]))
}

/** True for each whose place, from 1, is among the rows. */
function answeredIn(asked: readonly unknown[], answer: Answer | undefined): boolean[] {
  const places = new Set(answer?.rows.map(([place]) => Number(place)))
  return asked.map((_, index) => places.has(index + 1))
}

/** No two scopes have the same. */
function scopeName({ handler, orderKey }: OrderScope): string {
  return JSON.stringify([handler, orderKey])
}
