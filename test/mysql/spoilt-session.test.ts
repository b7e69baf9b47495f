import { createConnection as newConnection, type Pool, type PoolConnection, type RowDataPacket } from 'mysql2/promise'
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { suspectsOf } from '../../src/facts/index.ts'
import { type JustonceEvent, justonce } from '../../src/index.ts'
import { type MysqlStore, mysqlStore } from '../../src/stores/mysql/index.ts'
import { parkedMessage, recordOf } from '../../src/testing/sample-records.ts'
import { memoryTransport } from '../../src/transports/memory/index.ts'
import { askMysql, createMysqlDatabase } from '../servers/mysql-databases.ts'
import { requireServer } from '../servers/require.ts'
import { newPool } from './mysql-context.ts'

const mariadb = await requireServer('mariadb')
const request = (key: string) => ({ handler: 'tag-note', key, fingerprint: undefined })
const connections = 2

/** Other code uses the same pool, and does not tidy up before it releases a connection. */
describe.skipIf(!mariadb.available)('sessions that somebody has left in a bad state', () => {
  let url: string
  let pool: Pool
  let store: MysqlStore<PoolConnection>

  beforeAll(async () => {
    url = await createMysqlDatabase(mariadb.url)
    const owner = newPool({ url })
    await mysqlStore({ pool: owner }).schema.install()
    await owner.query('CREATE TABLE notes (name varchar(100) PRIMARY KEY, n int NOT NULL DEFAULT 0)')
    await owner.query('CREATE TABLE others (n int)')
    await owner.end()
  })
  beforeEach(() => {
    pool = newPool({ url, pool: { connectionLimit: connections } })
    store = mysqlStore({ pool })
    return () => pool.end()
  })

  /** The same on every connection of the pool, so that the store cannot but get one of those. */
  const leave = async (...statements: readonly string[]) => {
    const held = await Promise.all(Array.from({ length: connections }, () => pool.getConnection()))
    for (const [index, connection] of held.entries())
      for (const sql of statements) await connection.query(sql.replace('#', String(index)))
    for (const connection of held) connection.release()
  }
  const ask = <Row>(sql: string) => askMysql<Row>(url, sql)

  test('a transaction that was left open: handlers and the store see what is there now', async () => {
    await ask(`INSERT INTO notes VALUES ('read', 1)`)
    await leave('SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ', 'BEGIN', 'SELECT * FROM notes')
    await ask(`UPDATE notes SET n = 2 WHERE name = 'read'`)
    const other = newPool({ url })
    const elsewhere = mysqlStore({ pool: other })
    await elsewhere.transaction((tx) => elsewhere.inbox.claim(tx, [request('of another')]))
    await other.end()
    expect((await recordOf(store, request('of another')))?.state).toBe('processed')
    await leave('BEGIN', 'SELECT * FROM notes')
    await ask(`UPDATE notes SET n = 3 WHERE name = 'read'`)
    const read = await store.transaction(
      async (tx) => (await tx.query<RowDataPacket[]>(`SELECT n FROM notes WHERE name = 'read'`))[0][0]?.n,
    )
    expect(read).toBe(3)
  })

  test('a transaction that was left open: what was written in it is not committed with ours', async () => {
    await leave('BEGIN', `INSERT INTO notes VALUES ('stray #', 0)`)
    for (const key of ['s1', 's2']) await store.transaction((tx) => store.inbox.claim(tx, [request(key)]))
    expect((await store.inbox.find(['s1', 's2'].map(request))).map((record) => record?.state)).toEqual([
      'processed',
      'processed',
    ])
    expect(await ask(`SELECT * FROM notes WHERE name LIKE 'stray%'`)).toEqual([])
  })

  test.each([
    ['tables locked', ['LOCK TABLES others READ']],
    ['an XA transaction', [`XA START 'left #'`]],
    ['an XA transaction that is idle', [`XA START 'idle #'`, `XA END 'idle #'`]],
    ['few rows to be joined', ['SET max_join_size = 1']],
    ['little memory', ['SET max_session_mem_used = 8192']],
    ['a clock of its own', ['SET timestamp = 2000000000']],
  ])('%s: every message is handled, none is blamed', async (name, statements) => {
    await store.schema.check()
    const transport = memoryTransport()
    const app = justonce({ store, transport, concurrency: 1 })
    const events: JustonceEvent[] = []
    app.events.listen((event) => events.push(event))
    app.on('note.created', { name: 'tag-note', retry: { attempts: 1 } }, async ({ id }, { tx }) => {
      await tx.query('INSERT INTO notes VALUES (?, 0)', [id])
    })
    onTestFinished(() => app.stop())
    await app.start()
    await leave(...statements)
    const ids = Array.from({ length: 6 }, (_, index) => `${name} ${index}`)
    transport.send(ids.map((id) => ({ id, type: 'note.created', body: {} })))
    await transport.idle()
    expect(await ask(`SELECT name FROM notes WHERE name LIKE '${name}%' ORDER BY name`)).toEqual(
      ids.map((id) => ({ name: id })),
    )
    expect(events.filter(({ kind }) => kind === 'parked' || kind === 'stuck')).toEqual([])
    for (const record of await store.inbox.find(ids.map(request)))
      expect(Math.abs((record?.processedAt.getTime() ?? 0) - Date.now())).toBeLessThan(86_400_000)
  })

  test.each(['by somebody', 'by a handler'])(
    'the number of the next row, set %s: no other message loses its place',
    async (who) => {
      const [first, second] = [`first ${who}`, `second ${who}`]
      await store.transaction((tx) => store.parking.park(tx, [parkedMessage(first)]))
      const [row] = await store.parking.list({ key: first })
      const setting = `SET insert_id = ${row?.sequence}`
      if (who === 'by somebody') await leave(setting)
      await store.transaction(async (tx) => {
        const loan = store.lend(tx, { borrower: 'tag-note', onLateCall: () => {} })
        if (who === 'by a handler') await loan.tx.query(setting)
        await loan.end()
        await store.parking.park(tx, [parkedMessage(second)])
      })
      expect((await store.parking.list({ key: second })).map(({ key }) => key)).toEqual([second])
    },
  )

  test.each(['LOCK TABLES others READ', `XA START 'start #'`])('an app starts all the same: %s', async (sql) => {
    await leave(sql)
    await store.schema.check()
    await store.ping()
    await suspectsOf(store).begin(['s'])
  })

  test('a clock that is behind: what is due is found all the same', async () => {
    await store.transaction((tx) => store.parking.park(tx, [parkedMessage('due')]))
    await leave('SET timestamp = 1000000000')
    const wanted = [{ handler: parkedMessage('due').handler, type: undefined }]
    const found = await store.parking.reserve({ limit: 10, maxBytes: 1_000, forMs: 1_000, wanted, pastDead: [] })
    expect(found.map(({ key }) => key)).toContain('due')
  })

  test.each([
    ['READ UNCOMMITTED', `SET SESSION tx_isolation = 'READ-UNCOMMITTED'`],
    ['SERIALIZABLE without autocommit', `SET SESSION tx_isolation = 'SERIALIZABLE', autocommit = 0`],
  ])('%s: what is not committed is neither seen nor waited for', async (name, setting) => {
    const other = newPool({ url })
    onTestFinished(() => other.end())
    const elsewhere = mysqlStore({ pool: other })
    await leave(setting)
    await elsewhere.transaction(async (tx) => {
      await elsewhere.inbox.claim(tx, [request(name)])
      expect(await recordOf(store, request(name))).toBeUndefined()
    })
    expect(await recordOf(store, request(name))).toMatchObject({ state: 'processed' })
  })

  test('a table that somebody has locked is waited for as long as a row would be', async () => {
    const connection = await newConnection(url)
    onTestFinished(() => connection.end())
    await connection.query('LOCK TABLES others WRITE')
    const work = store.transaction((tx) => tx.query('INSERT INTO others VALUES (1)'), { lockTimeoutMs: 1_000 })
    const error = await work.catch((failure: unknown) => failure)
    expect([error, store.classify(error)]).toMatchObject([{ errno: 1205 }, 'conflict'])
  })
})
