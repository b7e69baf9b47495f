export interface PostgresPlace {
  readonly url: string
  readonly schema: string
}

export async function createSchema({ url, schema }: PostgresPlace): Promise<void> {
  await runAlone(url, `CREATE SCHEMA ${schema}`)
}

export async function dropSchema({ url, schema }: PostgresPlace): Promise<void> {
  await runAlone(url, `DROP SCHEMA IF EXISTS ${schema} CASCADE`)
}

async function runAlone(url: string, sql: string): Promise<void> {
  const pool = await openPool(url, { max: 1 })
  try {
    await pool.query(sql)
  } finally {
    await pool.end()
  }
}

/** Loaded only here: a demo without Postgres does not need its client. */
export async function openPool(url: string, settings: { max?: number; options?: string }) {
  const { default: pg } = await import('pg')
  const pool = new pg.Pool({ connectionString: url, max: 4, ...settings })
  // An idle connection that breaks is replaced by the pool; unheard, the event would end the process.
  pool.on('error', () => {})
  return pool
}
