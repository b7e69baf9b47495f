import type { FactChange, Facts } from '../../contracts/index.ts'
import type { Connections, Runner } from './connection.ts'
import { type Statement, statement } from './statement.ts'
import { kindOf, type Tables } from './tables.ts'
import type { OpenTransactions } from './transactions/open-transaction.ts'
import { type Cell, textArray, textIn } from './values-as-text.ts'

const now = 'clock_timestamp()'
const micros = `(extract(epoch FROM ${now}) * 1000000)::bigint`
const later = (ms: string) => `${now} + ${ms}::float8 * interval '1 millisecond'`
const stands = `(known.expires_at IS NULL OR known.expires_at > ${now})`

/**
 * Uses the clock at the moment itself, because a statement that has waited for another transaction must not use the time at
 * which it began. Every statement visits its rows in the same order, so that two processes never wait for each other.
 */
export function postgresFacts<Tx>(
  connections: Pick<Connections<Tx>, 'runAlone'>,
  transactions: OpenTransactions<Tx>,
  { facts }: Tables,
): Facts<Tx> {
  const statements = factStatements(facts)
  const runner = (tx: Tx | undefined): Pick<Runner, 'run'> =>
    tx === undefined ? { run: connections.runAlone } : transactions.runner(tx)
  const changeAll = async (
    by: Pick<Runner, 'run'>,
    sql: Statement,
    changes: readonly FactChange[],
  ): Promise<[name: string, revision: number][]> => {
    if (changes.length === 0) return []
    const texts = (pick: (change: FactChange) => string | number | undefined) =>
      textArray(changes.map((change) => pick(change)?.toString()))
    const given = [texts(({ name }) => name), texts(({ value }) => value), texts(({ forMs }) => forMs)]
    if (sql === statements.move) given.push(texts(({ from }) => from))
    return (await by.run(sql, given)).rows.map(([name, revision]) => [textIn(name), Number(revision)])
  }
  return {
    async read(names) {
      if (names.length === 0) return []
      const { rows } = await connections.runAlone(statements.read, [textArray(names)])
      const found = new Map(rows.map(([name, ...row]) => [name, factIn(row)]))
      return names.map((name) => found.get(name))
    },
    async list(kind, limit) {
      const { rows } = await connections.runAlone(statements.list, [kind, String(limit)])
      return rows.map(([name, ...row]) => ({ name: textIn(name), ...factIn(row) }))
    },
    async change(tx, changes) {
      const by = runner(tx)
      const taken = changes.filter(({ from }) => from === undefined)
      const moved = changes.filter(({ from }) => from !== undefined)
      const revisions = new Map([
        ...(await changeAll(by, statements.take, taken)),
        ...(await changeAll(by, statements.move, moved)),
      ])
      const inTheWay = taken.filter(({ name }) => !revisions.has(name))
      if (inTheWay.length > 0) await by.run(statements.shorten, [textArray(inTheWay.map(({ name }) => name))])
      return changes.map(({ name }) => revisions.get(name))
    },
    async remove(tx, which) {
      if ('expiredOf' in which) await runner(tx).run(statements.removeExpired, [which.expiredOf])
      else if (which.length > 0) {
        const call = { statement: statements.remove, values: [textArray(which)] }
        if (tx === undefined) await connections.runAlone(call.statement, call.values)
        else await transactions.write(tx, [call])
      }
    },
  }
}

function factIn([value, revision]: readonly Cell[]) {
  return { value: textIn(value), revision: Number(revision) }
}

function factStatements(facts: string) {
  const held = (where: string) =>
    `held AS MATERIALIZED (SELECT name FROM ${facts} WHERE ${where} ORDER BY name FOR UPDATE)`
  return {
    read: statement(`SELECT name, value, revision FROM ${facts} AS known WHERE name = ANY ($1::text[]) AND ${stands}`),
    list: statement(
      `SELECT name, value, revision FROM ${facts} AS known WHERE ${kindOf('name')} = $1::text AND ${stands}
       ORDER BY revision DESC, name DESC LIMIT $2::int`,
    ),
    take: statement(
      `INSERT INTO ${facts} AS known (name, value, revision, for_ms, expires_at)
       SELECT name COLLATE "C", value, ${micros}, for_ms, ${later('for_ms')}
       FROM unnest($1::text[], $2::text[], $3::float8[]) AS given (name, value, for_ms) ORDER BY 1
       ON CONFLICT (name) DO UPDATE SET value = excluded.value, revision = greatest(known.revision + 1, ${micros}),
         for_ms = excluded.for_ms, expires_at = ${later('excluded.for_ms')}
       WHERE NOT ${stands} RETURNING name, revision`,
    ),
    move: statement(
      `WITH given AS MATERIALIZED (
         SELECT * FROM unnest($1::text[], $2::text[], $3::float8[], $4::bigint[]) AS given (name, value, for_ms, was)),
       ${held('name = ANY ($1::text[])')}
       UPDATE ${facts} AS known SET value = given.value, for_ms = given.for_ms, expires_at = ${later('given.for_ms')},
         revision = CASE WHEN known.value = given.value THEN known.revision ELSE greatest(known.revision + 1, ${micros}) END
       FROM given JOIN held USING (name) WHERE known.name = given.name AND known.revision = given.was AND ${stands}
       RETURNING known.name, known.revision`,
    ),
    // No fact expires later than its for_ms from now, unless the clock was ahead when it was written.
    shorten: statement(
      `WITH ${held(`name = ANY ($1::text[]) AND expires_at > ${later('for_ms')}`)}
       UPDATE ${facts} AS known SET expires_at = ${later('for_ms')} FROM held WHERE known.name = held.name`,
    ),
    remove: statement(
      `WITH ${held('name = ANY ($1::text[])')} DELETE FROM ${facts} AS known USING held WHERE known.name = held.name`,
    ),
    removeExpired: statement(
      `WITH ${held(`${kindOf('name')} = $1::text AND expires_at <= ${now}`)}
       DELETE FROM ${facts} AS known USING held WHERE known.name = held.name AND NOT ${stands}`,
    ),
  }
}
