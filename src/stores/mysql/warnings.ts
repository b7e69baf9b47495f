import type { StoreWarning } from '../../contracts/index.ts'
import { JustonceError } from '../../errors/index.ts'
import type { MysqlConnectionShape } from './client-shapes.ts'
import { textIn } from './literals-and-cells.ts'
import type { ShortTransactions } from './short-transactions.ts'
import type { Tables } from './tables.ts'
import { thoroughWarnings } from './thorough-warnings.ts'

/** How many tables a warning names. */
const mostNames = 10

/**
 * Tables whose engine has no transactions (MyISAM, Aria, MEMORY, ARCHIVE) keep what a failed handler has written. The store
 * cannot know which of them handlers write to, so it names those in the database that they begin in.
 */
export async function mysqlWarnings<Native extends MysqlConnectionShape>(
  short: ShortTransactions<Native>,
  tables: Tables,
  { thorough = false }: { readonly thorough?: boolean } = {},
): Promise<StoreWarning[]> {
  const engines = `SELECT engine FROM information_schema.engines WHERE transactions = 'YES'`
  const simple = await short.read(
    `SELECT CONCAT(table_name, ' (', engine, ')') FROM information_schema.tables
     WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE' AND engine IS NOT NULL AND engine NOT IN (${engines})
     ORDER BY table_name LIMIT ${mostNames + 1}`,
  )
  const [defaults] = await short.read(
    `SELECT @@SESSION.default_storage_engine, @@SESSION.default_storage_engine IN (${engines})`,
  )
  const names = simple.map(([name]) => textIn(name))
  const found: string[] = []
  if (names.length > 0) {
    const more = names.length > mostNames ? ', …' : ''
    found.push(`These tables know no transactions: ${names.slice(0, mostNames).join(', ')}${more}.`)
  }
  if (defaults !== undefined && textIn(defaults[1]) !== '1')
    found.push(`default_storage_engine is ${textIn(defaults[0])}, which knows no transactions.`)
  return [
    ...found.map((message) => warningOf('TABLES_NOT_TRANSACTIONAL', message)),
    ...(await triggerWarnings(short, tables)),
    ...(await commitWarnings(short)),
    ...(thorough ? await thoroughWarnings(short, tables) : []),
  ]
}

/**
 * They may change what is written, and the store would have to read everything back to see it: with another key a record protects
 * nothing. A role without the right TRIGGER sees none of them.
 */
async function triggerWarnings<Native extends MysqlConnectionShape>(
  short: ShortTransactions<Native>,
  { databaseValue, prefix }: Tables,
): Promise<StoreWarning[]> {
  const rows = await short.read(
    `SELECT CONCAT(trigger_name, ' (', event_manipulation, ' on ', event_object_table, ')') FROM information_schema.triggers
     WHERE event_object_schema = ${databaseValue} AND action_timing = 'BEFORE' AND event_manipulation <> 'DELETE'
       AND LEFT(event_object_table, ${prefix.length}) = '${prefix}'
     ORDER BY event_object_table, trigger_name LIMIT ${mostNames}`,
  )
  if (rows.length === 0) return []
  return [warningOf('TABLES_HAVE_TRIGGERS', `${rows.map(([name]) => textIn(name)).join(', ')}.`)]
}

/** Settings with which a crash of the server may lose commits. */
async function commitWarnings<Native extends MysqlConnectionShape>(
  short: ShortTransactions<Native>,
): Promise<StoreWarning[]> {
  const [row = []] = await short.read(
    'SELECT @@GLOBAL.innodb_flush_log_at_trx_commit, @@GLOBAL.sync_binlog, @@GLOBAL.log_bin, @@GLOBAL.innodb_doublewrite',
  )
  const [flush, syncBinlog, logBin, doublewrite] = row.map(textIn)
  const weak = [
    ...(flush === '1' ? [] : [`innodb_flush_log_at_trx_commit is ${flush}`]),
    ...(logBin === '1' && syncBinlog !== '1' ? [`sync_binlog is ${syncBinlog}`] : []),
    ...(['0', 'OFF'].includes(doublewrite ?? '') ? ['innodb_doublewrite is off'] : []),
  ]
  return weak.length === 0 ? [] : [warningOf('COMMITS_NOT_DURABLE', `${weak.join(', ')}.`)]
}

function warningOf(
  code: 'TABLES_NOT_TRANSACTIONAL' | 'TABLES_HAVE_TRIGGERS' | 'COMMITS_NOT_DURABLE',
  message: string,
): StoreWarning {
  return { code, message: new JustonceError(code, { message }).message }
}
