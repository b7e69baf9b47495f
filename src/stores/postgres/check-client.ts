import { JustonceError, whatWasGiven, wrapperName, wrongTx } from '../../errors/index.ts'

/** Rejects what would fail in an odd way, or not at all, if it were used as a client of pg. */
export function checkedPgClient<Client>(tx: Client): Client {
  const { query, totalCount } = (tx ?? {}) as { query?: unknown; totalCount?: unknown }
  const isPool = totalCount !== undefined
  if (typeof query === 'function' && !isPool && wrapperName(tx) === undefined) return tx
  throw wrongTx(tx, 'the client of pg on which the transaction was begun')
}

/** Like `checkedPgClient`, for postgres.js. Whether its sql has its own connection, only the database can tell. */
export function checkedSql<Sql>(tx: Sql): Sql {
  if (typeof (tx as { unsafe?: unknown } | undefined)?.unsafe === 'function') return tx
  throw wrongTx(tx, 'the sql that sql.begin() or sql.reserve() of postgres.js gives')
}

/** Rejects a client where an object that contains the client is expected. */
export function checkNotBare(options: unknown): void {
  const given = whatWasGiven(options)
  const name = { 'a pool of pg': 'pool', 'the sql of postgres.js': 'sql' }[given]
  if (name !== undefined) throw invalid(`postgresStore() was given ${given} itself: write postgresStore({ ${name} }).`)
}

/** For options with neither a usable pool nor a usable sql. */
export function wrongClient({ pool, sql }: { readonly pool?: unknown; readonly sql?: unknown }): JustonceError {
  if (pool !== undefined && sql === undefined)
    return invalid(`pool is ${whatWasGiven(pool)}, but must be a Pool of pg: new pg.Pool().`)
  if (sql !== undefined && pool === undefined)
    return invalid(`sql is ${whatWasGiven(sql)}, but must be what postgres() of postgres.js (3.4 or later) returns.`)
  return invalid('postgresStore() needs either a pool of pg or the sql of postgres.js (3.4 or later).')
}

function invalid(message: string): JustonceError {
  return new JustonceError('OPTION_INVALID', { message })
}
