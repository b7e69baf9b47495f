import { JustonceError, whatWasGiven, wrapperName, wrongTx } from '../../errors/index.ts'

/** Refuses what would fail in some odd way, or not at all, when it is used as a client of pg. */
export function checkedPgClient<Client>(tx: Client): Client {
  const { query, totalCount } = (tx ?? {}) as { query?: unknown; totalCount?: unknown }
  const isPool = totalCount !== undefined
  if (typeof query === 'function' && !isPool && wrapperName(tx) === undefined) return tx
  throw wrongTx(tx, 'the client of pg on which the transaction was begun')
}

/** The same for postgres.js. That its sql has no connection of its own cannot be seen: the database says it. */
export function checkedSql<Sql>(tx: Sql): Sql {
  if (typeof (tx as { unsafe?: unknown } | undefined)?.unsafe === 'function') return tx
  throw wrongTx(tx, 'the sql that sql.begin() or sql.reserve() of postgres.js gives')
}

/** Refuses a client where an object with the client in it is wanted. */
export function checkNotBare(options: unknown): void {
  const given = whatWasGiven(options)
  const name = { 'a pool of pg': 'pool', 'the sql of postgres.js': 'sql' }[given]
  if (name !== undefined) throw invalid(`postgresStore() was given ${given} itself: write postgresStore({ ${name} }).`)
}

/** For options that have neither a pool nor a sql that could be used. */
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
