import type { Grown } from './claims.ts'

/** What a record takes in the table and in its index, in bytes. */
export async function sizeLine({ kind, millions, pool }: Pick<Grown, 'kind' | 'millions' | 'pool'>): Promise<string[]> {
  const { rows } = await pool.query<Record<'records' | 'heap' | 'index', string>>(
    `SELECT (SELECT count(*) FROM justonce_inbox) AS records,
            sum(pg_table_size(inhrelid)) AS heap, sum(pg_indexes_size(inhrelid)) AS index
     FROM pg_inherits WHERE inhparent = 'justonce_inbox'::regclass`,
  )
  const { records = 0, heap = 0, index = 0 } = rows[0] ?? {}
  const each = (bytes: number) => (bytes / Number(records)).toFixed(0)
  return [`${millions} million ${kind}`, each(Number(heap)), each(Number(index)), each(Number(heap) + Number(index))]
}
