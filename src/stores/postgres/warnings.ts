import type { StoreWarning } from '../../contracts/index.ts'
import { JustonceError } from '../../errors/index.ts'
import type { Connections } from './connection.ts'
import { statement } from './statement.ts'
import type { Tables } from './tables.ts'
import { textArray } from './values-as-text.ts'

const secured = statement(
  'SELECT name FROM unnest($1::text[]) AS given (name) WHERE row_security_active(to_regclass(name))',
)

/**
 * They may change what is written, and the store would have to read everything back to see it: with another key a record protects
 * nothing. In tgtype 1 stands for each row, 2 for before, 4 for an insert and 16 for an update.
 */
const triggers = statement(
  `SELECT tgname, relname FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
   WHERE tgrelid = ANY (SELECT to_regclass(name) FROM unnest($1::text[]) AS given (name))
     AND NOT tgisinternal AND tgenabled <> 'D' AND tgtype & 3 = 3 AND tgtype & 20 > 0
   ORDER BY relname, tgname LIMIT 10`,
)

const durable = ['fsync', 'full_page_writes', 'synchronous_commit']
const settings = ['server_encoding', 'synchronous_standby_names', 'default_transaction_isolation', ...durable]
const settingsNow = statement('SELECT name, current_setting(name, true) FROM unnest($1::text[]) AS given (name)')
const standbys = statement('SELECT count(*)::int FROM pg_stat_replication')
const indexes = statement(
  `SELECT index_of.relname, held.indisvalid FROM pg_index AS held
   JOIN pg_class AS index_of ON index_of.oid = held.indexrelid
   WHERE held.indrelid = ANY (SELECT to_regclass(name) FROM unnest($1::text[]) AS given (name))`,
)
const rights = statement(
  `SELECT wanted, string_agg(name, ', ') FROM unnest($1::text[]) AS given (name),
     unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS asked (wanted)
   WHERE NOT has_table_privilege(to_regclass(name), wanted) GROUP BY wanted ORDER BY wanted`,
)

type Settings = ReadonlyMap<string, string>

/** Encodings that hold every text: SQL_ASCII accepts any bytes. */
const holdsAll = new Set(['UTF8', 'SQL_ASCII'])

export async function postgresWarnings<Tx>(
  connections: Pick<Connections<Tx>, 'runAlone' | 'checkOut'>,
  tables: Tables,
  { thorough = false, interleaves = false }: { readonly thorough?: boolean; readonly interleaves?: boolean } = {},
): Promise<StoreWarning[]> {
  const found: JustonceError[] = []
  const { rows } = await connections.runAlone(settingsNow, [textArray(settings)])
  const values: Settings = new Map(rows.map(([name, value]) => [String(name), String(value ?? '')]))
  const encoding = values.get('server_encoding') ?? 'UTF8'
  if (!holdsAll.has(encoding)) {
    const message = `The encoding of the database is ${encoding}: a message whose key does not fit it becomes a dead letter.`
    found.push(new JustonceError('ENCODING_TOO_NARROW', { message }))
  }
  // Asked in a session of the pool, so that a setting of the role or the database counts as well.
  const weak = durable.filter((name) => values.get(name) === 'off')
  if (weak.length > 0)
    found.push(new JustonceError('COMMITS_NOT_DURABLE', { message: `These are off: ${weak.join(', ')}.` }))
  const { inbox, timeless, parked, queue, facts, positions, meta } = tables
  const names = [inbox, timeless, parked, queue, facts, positions, meta]
  const hidden = (await connections.runAlone(secured, [textArray(names)])).rows.map(([table]) => table)
  if (hidden.length > 0) {
    const message = `Row-level security applies to the role of the store on ${hidden.join(', ')}.`
    found.push(new JustonceError('ROWS_MAY_BE_HIDDEN', { message }))
  }
  const changing = (await connections.runAlone(triggers, [textArray(names)])).rows
  if (changing.length > 0) {
    const message = `${changing.map(([trigger, table]) => `${trigger} on ${table}`).join(', ')}.`
    found.push(new JustonceError('TABLES_HAVE_TRIGGERS', { message }))
  }
  if (interleaves && !(await canPipeline(connections))) {
    const message = 'The pool hands out clients of pg that cannot pipeline.'
    found.push(new JustonceError('CANNOT_PIPELINE', { message }))
  }
  if (thorough) {
    found.push(...(await serverFindings(connections, tables, values)))
    const denied = (await connections.runAlone(rights, [textArray(names)])).rows.map(
      ([right, on]) => `${right} on ${on}`,
    )
    if (denied.length > 0)
      found.push(new JustonceError('STORE_DENIED', { message: `The role of the store lacks ${denied.join('; ')}.` }))
  }
  return found.map(({ code, message }) => ({ code, message }))
}

/** Only a client can tell: the pool does not know its version. */
async function canPipeline<Tx>({ checkOut }: Pick<Connections<Tx>, 'checkOut'>): Promise<boolean> {
  const connection = await checkOut({})
  const can = connection.canPipeline
  connection.release()
  return can
}

/** How many indexes each table has, its primary key included: a name may be changed, an index may not be dropped. */
const indexesExpected = { parked: 9, queue: 2, facts: 2 } as const

/** What takes longer to find out, or is no reason to warn at every start. */
async function serverFindings<Tx>(
  connections: Pick<Connections<Tx>, 'runAlone'>,
  { parked, queue, facts }: Tables,
  values: Settings,
): Promise<JustonceError[]> {
  const found: JustonceError[] = []
  const isolation = values.get('default_transaction_isolation') ?? ''
  if (['serializable', 'repeatable read'].includes(isolation))
    found.push(
      new JustonceError('ISOLATION_DEFAULT_STRICT', { message: `default_transaction_isolation is ${isolation}.` }),
    )
  const replicas = Number((await connections.runAlone(standbys, [])).rows[0]?.[0] ?? 0)
  if (replicas > 0 && values.get('synchronous_standby_names') === '')
    found.push(
      new JustonceError('FAILOVER_MAY_LOSE', { message: `${replicas} replicas follow, and none is synchronous.` }),
    )
  for (const [name, table] of Object.entries({ parked, queue, facts })) {
    const seen = (await connections.runAlone(indexes, [textArray([table])])).rows
    const invalid = seen.filter(([, isValid]) => String(isValid).startsWith('f')).map(([index]) => String(index))
    const missing = indexesExpected[name as keyof typeof indexesExpected] - seen.length
    if (missing > 0)
      found.push(new JustonceError('INDEX_MISSING', { message: `${table} lacks ${missing} of its indexes.` }))
    if (invalid.length > 0)
      found.push(new JustonceError('INDEX_MISSING', { message: `Invalid: ${invalid.join(', ')}.` }))
  }
  return found
}
