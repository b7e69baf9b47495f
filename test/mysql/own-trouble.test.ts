import type { Pool, PoolConnection } from 'mysql2/promise'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { suspectsOf } from '../../src/facts/index.ts'
import { countParked } from '../../src/operations/index.ts'
import { type MysqlStore, mysqlStore } from '../../src/stores/mysql/index.ts'
import { type MariadbServer, startMariadb } from '../servers/mariadb.ts'
import { requireBinaries } from '../servers/require.ts'
import { newPool } from './mysql-context.ts'

const mariadb = await requireBinaries('mariadb')
const quietly = { borrower: 'tag-note', onLateCall: () => {} }

describe.skipIf(!mariadb.available)('trouble of the tables of a user', () => {
  let server: MariadbServer
  let url: string
  let pool: Pool
  let store: MysqlStore<PoolConnection>

  beforeAll(async () => {
    server = await startMariadb({
      settings: { max_heap_table_size: 16_384, log_bin: 'log', server_id: 1, sync_binlog: 1 },
    })
    url = await server.createDatabase('app')
    pool = newPool({ url })
    store = mysqlStore({ pool })
    await store.schema.install()
  })
  afterAll(async () => {
    await pool?.end()
    await server?.stop()
  })

  test('a full MEMORY table is no outage of the store', async () => {
    await pool.query('CREATE TABLE small (a varchar(255)) ENGINE = MEMORY')
    const work = store.transaction(async (tx) => {
      const loan = store.lend(tx, quietly)
      for (let row = 0; row < 500; row++) {
        await loan.tx.query('INSERT INTO small VALUES (?)', ['x'.repeat(255)]).catch((error: unknown) => {
          expect(error).toMatchObject({ errno: 1114, sql: 'INSERT INTO small VALUES (?)' })
          expect([store.classify(error), loan.end().trouble]).toEqual(['none', 'none'])
          throw error
        })
      }
    })
    await expect(work).rejects.toMatchObject({ errno: 1114 })
    await pool.query('DROP TABLE small')
  })

  test('a session that logs statements, in which InnoDB refuses our writes, is replaced by another', async () => {
    const connections = 2
    const spoilt = newPool({ url, pool: { connectionLimit: connections } })
    const held = await Promise.all(Array.from({ length: connections }, () => spoilt.getConnection()))
    for (const connection of held) {
      await connection.query('SET SESSION binlog_format = STATEMENT')
      connection.release()
    }
    const suspects = suspectsOf(mysqlStore({ pool: spoilt }))
    await suspects.begin(['s'])
    expect(await suspects.look(['s'])).toEqual([1])
    await spoilt.end()
  })

  test('errors of our own statements carry no values either', async () => {
    const secret = 'card 4000 0012 3456 7899'
    await pool.query('RENAME TABLE justonce_parked TO away')
    const shown = await countParked(store, { errorText: secret }).catch((error: Error) => [error, error.cause])
    await pool.query('RENAME TABLE away TO justonce_parked')
    expect(shown).toMatchObject([{ code: 'SCHEMA_MISSING' }, { errno: 1146 }])
    expect(JSON.stringify(shown)).not.toContain(Buffer.from(secret).toString('hex'))
  })

  test('a lone text with values in it is not shown', async () => {
    const work = store.transaction(async (tx) => {
      await store.lend(tx, quietly).tx.query(`INSERT INTO nowhere VALUES ('card 0012')`)
    })
    const error = await work.catch((failure: unknown) => failure)
    expect(error).toMatchObject({ errno: 1146 })
    expect(error).not.toHaveProperty('sql')
  })

  test('triggers that may change what the store writes are warned of, by name', async () => {
    const note = 'ON justonce_inbox FOR EACH ROW SET @noted = 1'
    await pool.query(`CREATE TRIGGER changes BEFORE INSERT ${note}`)
    await pool.query(`CREATE TRIGGER counts AFTER INSERT ${note}`)
    await pool.query('CREATE TABLE yours (a int)')
    await pool.query('CREATE TRIGGER of_yours BEFORE INSERT ON yours FOR EACH ROW SET @noted = 1')
    const warnings = await store.warnings?.()
    for (const name of ['changes', 'counts']) await pool.query(`DROP TRIGGER ${name}`)
    await pool.query('DROP TABLE yours')
    expect(warnings).toMatchObject([
      { code: 'TABLES_HAVE_TRIGGERS', message: expect.stringContaining('changes (INSERT on justonce_inbox).') },
    ])
  })

  test('tables without transactions are warned of, by name', async () => {
    expect(await store.warnings?.()).toEqual([])
    await pool.query('CREATE TABLE old_notes (a int) ENGINE = MyISAM')
    const [warning, ...others] = (await store.warnings?.()) ?? []
    expect(warning).toMatchObject({
      code: 'TABLES_NOT_TRANSACTIONAL',
      message: expect.stringContaining('old_notes (MyISAM)'),
    })
    expect(others).toEqual([])
    await pool.query('DROP TABLE old_notes')
    await pool.query('SET GLOBAL default_storage_engine = MEMORY')
    const late = newPool({ url })
    const warnings = await mysqlStore({ pool: late }).warnings?.()
    await late.end()
    await pool.query('SET GLOBAL default_storage_engine = InnoDB')
    expect(warnings).toMatchObject([{ message: expect.stringContaining('default_storage_engine is MEMORY') }])
  })
})
