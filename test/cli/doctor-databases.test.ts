import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { eventually } from '../../src/testing/waiting.ts'
import { connected } from '../redis/open-redis.ts'
import { startMariadb } from '../servers/mariadb.ts'
import { askMysql, createMysqlDatabase } from '../servers/mysql-databases.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { freshTag, startRedis } from '../servers/redis.ts'
import { requireBinaries, requireServer } from '../servers/require.ts'
import { scratchFolder } from '../sqlite/open-sqlite.ts'
import { doctor, named } from './doctor-findings.ts'
import { runHere } from './run-here.ts'

const [postgres, mysql, redisBinaries, mariadbBinaries] = [
  await requireServer('postgres'),
  await requireServer('mariadb'),
  await requireBinaries('redis'),
  await requireBinaries('mariadb'),
]

async function migrated(...where: readonly string[]): Promise<void> {
  expect(await runHere(['migrate', ...where])).toMatchObject({ code: 0, err: '' })
}

describe.skipIf(!postgres.available)('the doctor on Postgres', () => {
  async function open() {
    const url = await createDatabase(postgres.url)
    const admin = new pg.Client({ connectionString: url })
    await admin.connect()
    onTestFinished(() => admin.end())
    await migrated('--store', url)
    return { url, admin, database: new URL(url).pathname.slice(1) }
  }

  test('finds a default isolation that is stricter than READ COMMITTED: a notice, no problem', async () => {
    const { url, admin, database } = await open()
    expect(named(await doctor('--store', url), 'ISOLATION_DEFAULT_STRICT')).toEqual([])
    await admin.query(`ALTER DATABASE ${database} SET default_transaction_isolation = 'repeatable read'`)
    expect(named(await doctor('--store', url), 'ISOLATION_DEFAULT_STRICT')).toMatchObject([
      { level: 'notice', found: 'default_transaction_isolation is repeatable read.' },
    ])
  })

  test('finds the rights that a role lacks, table by table', async () => {
    const { url, admin } = await open()
    const role = `doctor_${process.pid}`
    await admin.query(`CREATE ROLE ${role} LOGIN`)
    onTestFinished(async () => {
      await admin.query(`DROP OWNED BY ${role}`)
      await admin.query(`DROP ROLE ${role}`)
    })
    await admin.query(`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${role}`)
    const asRole = new URL(url)
    asRole.username = role
    expect(named(await doctor('--store', asRole.href), 'STORE_DENIED')).toEqual([])
    await admin.query(`REVOKE DELETE ON justonce_queue FROM ${role}`)
    const [denied, ...others] = named(await doctor('--store', asRole.href), 'STORE_DENIED')
    expect(others).toEqual([])
    expect(denied).toMatchObject({
      level: 'problem',
      found: expect.stringMatching(/lacks DELETE on \S*justonce_queue/),
    })
  })
})

describe.skipIf(!mysql.available)('the doctor on MariaDB', () => {
  test('finds an index that is gone', async () => {
    const url = await createMysqlDatabase(mysql.url)
    await migrated('--store', url)
    expect(named(await doctor('--store', url), 'INDEX_MISSING')).toEqual([])
    await askMysql(url, 'DROP INDEX parked_due ON justonce_parked')
    expect(named(await doctor('--store', url), 'INDEX_MISSING')).toMatchObject([
      { level: 'problem', found: 'Missing: parked_due (state,next_at,sequence,handler).' },
    ])
    await askMysql(url, 'CREATE INDEX another_name ON justonce_parked (state, next_at, sequence, handler)')
    expect(named(await doctor('--store', url), 'INDEX_MISSING')).toEqual([])
  })

  test('finds the rights that a role lacks', async () => {
    const url = await createMysqlDatabase(mysql.url)
    await migrated('--store', url)
    const user = `doctor_${process.pid}`
    await askMysql(url, `CREATE USER ${user}`)
    onTestFinished(async () => void (await askMysql(url, `DROP USER ${user}`)))
    const database = new URL(url).pathname.slice(1)
    await askMysql(url, `GRANT SELECT, INSERT, UPDATE, DELETE ON ${database}.* TO ${user}`)
    const asUser = new URL(url)
    asUser.username = user
    expect(named(await doctor('--store', asUser.href), 'STORE_DENIED')).toEqual([])
    await askMysql(url, `REVOKE UPDATE ON ${database}.* FROM ${user}`)
    const [denied] = named(await doctor('--store', asUser.href), 'STORE_DENIED')
    expect(denied).toMatchObject({
      level: 'problem',
      found: expect.stringContaining('refused UPDATE on justonce_inbox'),
    })
  })
})

describe.skipIf(!mariadbBinaries.available)('the doctor on a MariaDB of its own', () => {
  test('finds a replica that no commit waits for, and a strict isolation', async () => {
    const primary = await startMariadb({ settings: { 'server-id': 1, 'log-bin': 'bin', sync_binlog: 1 } })
    onTestFinished(() => primary.stop())
    const url = await primary.createDatabase()
    await migrated('--store', url)
    const codes = async (): Promise<readonly string[]> => (await doctor('--store', url)).map(({ check }) => check)
    expect(await codes()).not.toContain('FAILOVER_MAY_LOSE')
    const replica = await startMariadb({ settings: { 'server-id': 2 } })
    onTestFinished(() => replica.stop())
    await askMysql(replica.url, `SET GLOBAL rpl_semi_sync_slave_enabled = 1`)
    const login = `MASTER_HOST = '127.0.0.1', MASTER_PORT = ${primary.port}, MASTER_USER = 'root'`
    await askMysql(replica.url, `CHANGE MASTER TO ${login}, MASTER_USE_GTID = slave_pos`)
    await askMysql(replica.url, 'START SLAVE')
    const follows = async () => ((await codes()).includes('FAILOVER_MAY_LOSE') ? true : undefined)
    await eventually(follows, 'the replica follows, asynchronously')
    await askMysql(primary.url, 'SET GLOBAL rpl_semi_sync_master_enabled = 1')
    const isHeld = async () => ((await follows()) ? undefined : true)
    await eventually(isHeld, 'commits wait for the replica')
    expect(await codes()).not.toContain('ISOLATION_DEFAULT_STRICT')
    await askMysql(primary.url, `SET GLOBAL tx_isolation = 'SERIALIZABLE'`)
    expect(await codes()).toContain('ISOLATION_DEFAULT_STRICT')
  })
})

describe.skipIf(!redisBinaries.available)('the doctor on a Redis of its own', () => {
  test('finds a replica that the primary does not wait for', async () => {
    const primary = await startRedis()
    onTestFinished(() => primary.stop())
    const where = ['--store', primary.url, '--prefix', freshTag()]
    await migrated(...where)
    const found = async () => named(await doctor(...where), 'FAILOVER_MAY_LOSE')
    expect(await found()).toEqual([])
    const replica = await startRedis({ settings: { replicaof: `127.0.0.1 ${primary.port}` } })
    onTestFinished(() => replica.stop())
    const follows = async () => ((await found()).length > 0 ? true : undefined)
    await eventually(follows, 'the replica is connected')
    const admin = await connected(primary.url)
    onTestFinished(() => admin.destroy())
    await admin.configSet('min-replicas-to-write', '1')
    expect(await found()).toEqual([])
  })
})

test('the doctor finds an index of a SQLite file that is gone', async () => {
  const folder = scratchFolder()
  onTestFinished(() => folder.remove())
  const path = folder.file('shop.db')
  await migrated('--store', `sqlite:${path}`)
  expect(named(await doctor('--store', `sqlite:${path}`), 'INDEX_MISSING')).toEqual([])
  const database = new DatabaseSync(path)
  const [index] = database.prepare(`SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL`).all()
  database.exec(`DROP INDEX ${index?.name}`)
  database.close()
  expect(named(await doctor('--store', `sqlite:${path}`), 'INDEX_MISSING')).toMatchObject([
    { level: 'problem', found: `Missing: ${index?.name}.` },
  ])
})
