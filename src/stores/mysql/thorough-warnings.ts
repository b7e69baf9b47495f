import type { StoreWarning } from '../../contracts/index.ts'
import { isJustonceError, JustonceError } from '../../errors/index.ts'
import type { MysqlConnectionShape } from './client-shapes.ts'
import { textIn } from './literals-and-cells.ts'
import { createTables } from './migrations/0001-tables.ts'
import type { ShortTransactions } from './short-transactions.ts'
import type { Tables } from './tables.ts'

type Reading = Pick<ShortTransactions<MysqlConnectionShape>, 'read'>

/** What takes longer to find out, or is no reason to warn at every start: for the doctor. */
export async function thoroughWarnings(short: Reading, tables: Tables): Promise<StoreWarning[]> {
  const found = [
    ...(await failoverFindings(short)),
    ...(await isolationFindings(short)),
    ...(await indexFindings(short, tables)),
    ...(await rightFindings(short, tables)),
  ]
  return found.map(({ code, message }) => ({ code, message }))
}

/** Replicas follow, and no commit waits until one of them has it. Semi-synchronous replication ends by itself after a timeout. */
async function failoverFindings(short: Reading): Promise<JustonceError[]> {
  const status = await named(short, 'SHOW GLOBAL STATUS', [
    ...['Slaves_connected', 'Rpl_semi_sync_master_status', 'Rpl_semi_sync_source_status', 'wsrep_ready'],
  ])
  // A cluster that certifies commits before it answers them.
  if (status.get('wsrep_ready') === 'ON') return []
  const isHeld = ['rpl_semi_sync_master_status', 'rpl_semi_sync_source_status'].some(
    (name) => status.get(name) === 'ON',
  )
  const replicas = Number(status.get('slaves_connected') ?? (await dumpThreads(short)))
  if (isHeld || replicas === 0) return []
  const message = `${replicas} replicas follow, and replication is not semi-synchronous at the moment.`
  return [new JustonceError('FAILOVER_MAY_LOSE', { message })]
}

/** How many replicas MySQL serves. A role that may not see them sees none. */
async function dumpThreads(short: Reading): Promise<number> {
  const rows = await short.read(`SELECT COUNT(*) FROM information_schema.processlist WHERE command LIKE 'Binlog Dump%'`)
  return Number(textIn(rows[0]?.[0] ?? null))
}

async function isolationFindings(short: Reading): Promise<JustonceError[]> {
  const [isolation = ''] = (
    await named(short, 'SHOW GLOBAL VARIABLES', ['tx_isolation', 'transaction_isolation'])
  ).values()
  if (isolation !== 'SERIALIZABLE') return []
  return [new JustonceError('ISOLATION_DEFAULT_STRICT', { message: `The isolation of the server is ${isolation}.` })]
}

/** By their columns: a name may be changed, an index may not be dropped. */
async function indexFindings(short: Reading, tables: Tables): Promise<JustonceError[]> {
  const rows = await short.read(
    `SELECT table_name, GROUP_CONCAT(column_name ORDER BY seq_in_index) FROM information_schema.statistics
     WHERE table_schema = ${tables.databaseValue} GROUP BY table_name, index_name`,
  )
  const seen = rows.map((row) => row.map(textIn) as [table: string, columns: string])
  const missing = createTables(tables).flatMap((create) => {
    const table = /`([^`]+)` \(/.exec(create)?.[1]
    const wanted = create.matchAll(/ KEY (\w+) \(([^)]+)\)/g)
    return [...wanted].flatMap(([, name, columns = '']) => {
      const plain = columns.replaceAll(/[`\s]/g, '')
      return seen.some(([of, has]) => of === table && `${has},`.startsWith(`${plain},`)) ? [] : [`${name} (${plain})`]
    })
  })
  if (missing.length === 0) return []
  return [new JustonceError('INDEX_MISSING', { message: `Missing: ${missing.join('; ')}.` })]
}

/** Statements that change no row, but need the right to do it. Asking for grants would not see roles. */
async function rightFindings(short: Reading, tables: Tables): Promise<JustonceError[]> {
  const changed = { inbox: 'state', parked: 'state', scopes: 'made_at', queue: 'deliveries', facts: 'for_ms' } as const
  const denied = new Map<string, string[]>()
  for (const [name, column] of Object.entries({ ...changed, positions: 'incarnation' })) {
    const table = tables[name as keyof typeof changed]
    const tries = {
      SELECT: `SELECT ${column} FROM ${table} WHERE 1 = 0`,
      INSERT: `INSERT IGNORE INTO ${table} (${column}) SELECT ${column} FROM ${table} WHERE 1 = 0`,
      UPDATE: `UPDATE ${table} SET ${column} = ${column} WHERE 1 = 0`,
      DELETE: `DELETE FROM ${table} WHERE 1 = 0`,
    }
    for (const [right, sql] of Object.entries(tries)) {
      try {
        await short.read(sql)
      } catch (error) {
        if (!isJustonceError(error, 'STORE_DENIED')) throw error
        denied.set(right, [...(denied.get(right) ?? []), `${tables.prefix}${name}`])
      }
    }
  }
  if (denied.size === 0) return []
  const lacking = [...denied].map(([right, on]) => `${right} on ${on.join(', ')}`).join('; ')
  return [new JustonceError('STORE_DENIED', { message: `The role of the store is refused ${lacking}.` })]
}

async function named(short: Reading, show: string, names: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const rows = await short.read(`${show} WHERE Variable_name IN (${names.map((name) => `'${name}'`).join(', ')})`)
  return new Map(rows.map((row) => row.map(textIn)).map(([name = '', value = '']) => [name.toLowerCase(), value]))
}
