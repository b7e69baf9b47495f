import { JustonceError } from '../../errors/index.ts'
import type { Dialect, Fragment } from './fragment.ts'
import { foundRows, withSafeTexts } from './mysql-literals.ts'
import { valueFor } from './values.ts'

/** A row by the names of its columns. */
export type Row = Record<string, unknown>

/** Runs statements in the caller's transaction. */
export interface Runner {
  readonly dialect: Dialect
  /** The rows that a statement returns. `ours`: what its first columns are called, whatever the client does to names. */
  rows(statement: Fragment, ...ours: string[]): Promise<Row[]>
  /** How many rows a statement without RETURNING has found and changed. */
  change(statement: Fragment): Promise<number>
}

/** What an adapter gives its `tx` under `sqlRunner`, so that the patterns work with it. `?` or `$1` as its dialect has them. */
export interface CustomRunner {
  readonly dialect: Dialect
  run(text: string, values: readonly unknown[]): Promise<{ readonly rows: readonly Row[]; readonly changes: number }>
}

/** The name under which a `tx` that is none of the known clients offers a way to run statements. */
export const sqlRunner: unique symbol = Symbol.for('justonce.sql-runner') as never

/** By shape, as everywhere: any version of a client fits, and so does what a handler is lent. */
export function runnerOf(tx: unknown): Runner {
  const isObject = (typeof tx === 'object' && tx !== null) || typeof tx === 'function'
  const has = (name: PropertyKey): boolean =>
    isObject && typeof (tx as Record<PropertyKey, unknown>)[name] === 'function'
  if (isObject && sqlRunner in tx) return custom(tx[sqlRunner] as CustomRunner)
  if (typeof tx === 'function' && has('unsafe')) return postgresJs(tx as unknown as PostgresJsShape)
  if (has('prepare') && has('exec')) return sqlite(tx as SqliteShape)
  if (has('query') && has('execute')) return mysql(tx as MysqlShape)
  if (has('query')) return pg(tx as PgShape)
  throw new JustonceError('OPTION_INVALID', {
    message:
      'The first argument must be the tx of a handler: a client of pg, postgres, mysql2, node:sqlite or better-sqlite3.',
  })
}

interface PgShape {
  query(text: string, values: unknown[]): Promise<{ rows: Row[]; rowCount: number | null }>
}

interface PostgresJsShape {
  unsafe(text: string, values: unknown[], options: object): PromiseLike<PostgresJsRows>
}

type PostgresJsRows = Row[] & { readonly count: number; readonly columns?: readonly { readonly name: string }[] }

interface MysqlShape {
  query(options: object): Promise<[Row[] | { affectedRows: number; info?: string }, unknown]>
}

interface SqliteShape {
  prepare(text: string): SqliteStatement
}

interface SqliteStatement {
  all(...values: unknown[]): Row[]
  run(...values: unknown[]): { changes: number | bigint }
  setReadBigInts?(isOn: boolean): unknown
  safeIntegers?(isOn: boolean): unknown
}

function custom({ dialect, run }: CustomRunner): Runner {
  const answer = (statement: Fragment) => {
    const { text, values } = rendered(dialect, statement)
    return run(text, values)
  }
  return {
    dialect,
    rows: async (statement) => [...(await answer(statement)).rows],
    change: async (statement) => (await answer(statement)).changes,
  }
}

function pg(client: PgShape): Runner {
  return custom({
    dialect: 'postgres',
    async run(text, values) {
      const { rows, rowCount } = await client.query(text, [...values])
      return { rows, changes: rowCount ?? 0 }
    },
  })
}

function postgresJs(client: PostgresJsShape): Runner {
  const ask = (statement: Fragment) => {
    const { text, values } = rendered('postgres', statement)
    // Described by the server first, so that values have the types of their columns.
    return client.unsafe(text, values, { prepare: true })
  }
  return {
    dialect: 'postgres',
    async rows(statement, ...ours) {
      const rows = await ask(statement)
      return rows.map((row) => renamed(row, rows.columns ?? [], ours))
    },
    change: async (statement) => (await ask(statement)).count,
  }
}

/** The names of the user's columns stay as a `transform` of the client has made them, those of ours do not. */
function renamed(row: Row, columns: NonNullable<PostgresJsRows['columns']>, ours: readonly string[]): Row {
  const given = { ...row }
  const values = ours.map((_, place) => {
    const name = columns[place]?.name ?? ''
    const value = given[name]
    delete given[name]
    return value
  })
  return { ...Object.fromEntries(ours.map((name, place) => [name, values[place]])), ...given }
}

/** Set for each statement, because the pool may be set up otherwise. Whole numbers beyond 2^53 are texts, as those of Postgres are. */
const asRows = { supportBigNumbers: true, rowsAsArray: false, nestTables: false }

function mysql(connection: MysqlShape): Runner {
  return custom({
    dialect: 'mysql',
    async run(text, values) {
      const [answer] = await connection.query({ ...withSafeTexts(text, values), ...asRows })
      return Array.isArray(answer) ? { rows: answer, changes: 0 } : { rows: [], changes: foundRows(answer) }
    },
  })
}

function sqlite(database: SqliteShape): Runner {
  const prepared = (statement: Fragment) => {
    const { text, values } = rendered('sqlite', statement)
    return { native: database.prepare(text), values: values.map(exactInteger) }
  }
  return {
    dialect: 'sqlite',
    async rows(statement) {
      const { native, values } = prepared(statement)
      // Otherwise integers beyond 2^53 are refused or rounded.
      if (native.setReadBigInts !== undefined) native.setReadBigInts(true)
      else native.safeIntegers?.(true)
      return native.all(...values).map(withPlainIntegers)
    },
    async change(statement) {
      const { native, values } = prepared(statement)
      return Number(native.run(...values).changes)
    },
  }
}

function rendered(dialect: Dialect, statement: Fragment): { readonly text: string; readonly values: unknown[] } {
  const { text, values } = statement.render(dialect)
  return { text, values: values.map((value) => valueFor(dialect, value)) }
}

/** Clients of SQLite bind a number as a floating-point one, and a sum with that loses digits beyond 2^53. */
function exactInteger(value: unknown): unknown {
  return Number.isSafeInteger(value) ? BigInt(value as number) : value
}

/** A bigint only where a number would not be exact. */
function withPlainIntegers(row: Row): Row {
  const plain = (value: unknown): unknown =>
    typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, plain(value)]))
}
