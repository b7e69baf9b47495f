import pg from 'pg'

export type PoolOf = (connections: number) => pg.Pool

/** One pool for each number of connections, opened when it is first asked for; its connections stay open until the end. */
export function pools(url: string): { readonly poolOf: PoolOf; end(): Promise<void> } {
  const opened = new Map<number, pg.Pool>()
  return {
    poolOf(connections) {
      const pool =
        opened.get(connections) ?? new pg.Pool({ connectionString: url, max: connections, idleTimeoutMillis: 0 })
      opened.set(connections, pool)
      return pool
    },
    async end() {
      await Promise.all([...opened.values()].map((pool) => pool.end()))
    },
  }
}
