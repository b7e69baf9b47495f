import mysql, { type PoolConnection } from 'mysql2/promise'
import pg from 'pg'
import postgres, { type ReservedSql } from 'postgres'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Queue, Store } from '../../src/contracts/index.ts'
import { mysqlStore } from '../../src/stores/mysql/index.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { claim, present } from '../../src/testing/sample-records.ts'
import { eventually, failureOf, gate } from '../../src/testing/waiting.ts'
import { newDatabase } from '../mysql/mysql-context.ts'
import { askMysql, mysqlDatabaseUrl } from '../servers/mysql-databases.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { type FaultProxy, startProxy } from '../servers/proxy.ts'
import { requireServer } from '../servers/require.ts'

interface Opened {
  readonly store: Store & { readonly queue: Queue<unknown> }
  sleep(tx: unknown, seconds: number): Promise<unknown>
  end(): Promise<unknown>
}

const [postgresServer, mariadb] = [await requireServer('postgres'), await requireServer('mariadb')]

/** Longer than a busy machine keeps a process from reading an answer that is there. */
const answerTimeoutMs = 1_000

function openPg(url: string): Opened {
  const pool = new pg.Pool({ connectionString: url, max: 6 })
  const store = postgresStore({ pool, answerTimeoutMs, listen: false })
  const sleep = (tx: unknown, seconds: number) => (tx as pg.PoolClient).query('SELECT pg_sleep($1)', [seconds])
  return { store: store as unknown as Opened['store'], sleep, end: () => pool.end() }
}

function openPostgresJs(url: string): Opened {
  const sql = postgres(url, { max: 6, onnotice: () => {} })
  const store = postgresStore({ sql, answerTimeoutMs, listen: false })
  const sleep = (tx: unknown, seconds: number) => (tx as ReservedSql)`SELECT pg_sleep(${seconds})`
  return { store: store as unknown as Opened['store'], sleep, end: () => sql.end({ timeout: 0 }) }
}

function openMysql2(url: string): Opened {
  const pool = mysql.createPool({ uri: url, connectionLimit: 6 })
  const store = mysqlStore({ pool, answerTimeoutMs })
  const sleep = (tx: unknown, seconds: number) => (tx as PoolConnection).query('SELECT SLEEP(?)', [seconds])
  // It says good-bye on connections that were cut.
  return { store: store as unknown as Opened['store'], sleep, end: () => pool.end().catch(() => {}) }
}

async function mysqlUrl(): Promise<string> {
  const database = newDatabase()
  await askMysql(mariadb.url, `CREATE DATABASE ${database}`)
  return mysqlDatabaseUrl(mariadb.url, database)
}

const onPostgres = {
  server: postgresServer,
  create: () => createDatabase(postgresServer.url),
  atTheEnd: 'COMMIT_UNKNOWN',
}
/** Before it commits, it asks whether the transaction is still open. */
const onMysql = { server: mariadb, create: mysqlUrl, atTheEnd: 'ETIMEDOUT' }

// They mostly wait: each for a connection of its own.
describe.concurrent.each([
  { name: 'pg', open: openPg, showsProgress: true, ...onPostgres },
  // It does not show how much of an answer has arrived.
  { name: 'postgres.js', open: openPostgresJs, showsProgress: false, ...onPostgres },
  { name: 'mysql2', open: openMysql2, showsProgress: true, ...onMysql },
])('$name: a server that no longer hears a connection', ({ server, open, create, atTheEnd, showsProgress }) => {
  let url: string
  beforeAll(async () => {
    if (server.available) url = await create()
  })

  async function through(work: (opened: Opened, proxy: FaultProxy) => Promise<void>): Promise<void> {
    const { hostname, port } = new URL(url)
    const proxy = await startProxy(hostname, Number(port))
    const opened = open(proxy.url(url))
    try {
      await opened.store.schema.install()
      await work(opened, proxy)
    } finally {
      proxy.cutAll()
      await opened.end()
      await proxy.stop()
    }
  }

  const known = (store: Store, key: string) =>
    eventually(async () => {
      try {
        const record = await store.transaction((tx) => claim(store, tx, key), { lockTimeoutMs: 100 })
        return { state: record?.state }
      } catch {
        return undefined
      }
    }, `an answer about ${key}`)

  test.skipIf(!server.available)('a claim is given up, and its key is free for others', () =>
    through(async ({ store }, proxy) => {
      const work = store.transaction(
        async (tx) => {
          await claim(store, tx, 'claimed')
          proxy.halfClose()
          await claim(store, tx, 'asked for')
        },
        { idleTimeoutMs: 3_000 },
      )
      expect(store.classify(await failureOf(work, 'a claim without an answer'))).toBe('unavailable')
      expect(await known(store, 'claimed')).toEqual({ state: undefined })
    }),
  )

  test.skipIf(!server.available)(
    'an end without an answer is reported, and claiming again tells what became of it',
    () =>
      through(async ({ store }, proxy) => {
        const work = store.transaction(
          async (tx) => {
            await claim(store, tx, 'committed')
            proxy.halfClose()
          },
          { idleTimeoutMs: 3_000 },
        )
        expect(await failureOf(work, 'a commit without an answer')).toMatchObject({ code: atTheEnd })
        expect(await known(store, 'committed')).toEqual({ state: undefined })
      }),
  )

  test.skipIf(!server.available)('single statements are given up, and the next ones use other connections', () =>
    through(async ({ store }, proxy) => {
      await store.queue.take('notes', { limit: 1, visibilityMs: 1_000 })
      proxy.halfClose()
      const taking = store.queue.take('notes', { limit: 1, visibilityMs: 1_000 })
      expect(store.classify(await failureOf(taking, 'a take without an answer'))).toBe('unavailable')
      const again = async () =>
        await store.queue.take('notes', { limit: 1, visibilityMs: 1_000 }).catch(() => undefined)
      expect(await eventually(again, 'a take on another connection')).toEqual([])
    }),
  )

  test.skipIf(!server.available)('the boundary of a part is given up', () =>
    through(async ({ store }, proxy) => {
      const parts = present(store.parts, 'parts')
      const work = store.transaction(
        async (tx) => {
          await claim(store, tx, 'in a part')
          await parts.next(tx)
          proxy.halfClose()
          await parts.next(tx)
        },
        // The server must not be the first that gives up.
        { idleTimeoutMs: 6_000, lockTimeoutMs: 100 },
      )
      expect(await failureOf(work, 'a boundary without an answer')).toMatchObject({ code: 'ETIMEDOUT' })
      expect(await known(store, 'in a part')).toEqual({ state: undefined })
    }),
  )

  test.skipIf(!server.available)('a network that is slow is not silent', () =>
    through(async ({ store }, proxy) => {
      const size = 1_000_000
      const message = { envelope: Buffer.from('large'), body: Buffer.alloc(size, 7) }
      // Some connections are there already: to open one over this network would take long, too.
      await store.queue.take('notes', { limit: 1, visibilityMs: 1_000 })
      proxy.slow(answerTimeoutMs / 8)
      await store.queue.send(undefined, 'notes', [{ message, key: undefined }])
      if (!showsProgress) return
      const [taken] = await store.queue.take('notes', { limit: 1, visibilityMs: 60_000 })
      expect(taken?.message.body.byteLength).toBe(size)
    }),
  )

  test.skipIf(!server.available)('what a handler runs may take longer', () =>
    through(async ({ store, sleep }) => {
      await store.transaction(async (tx) => {
        await claim(store, tx, 'slow')
        const loan = store.lend(tx, { borrower: 'slow', onLateCall: () => {} })
        await sleep(loan.tx, (2 * answerTimeoutMs) / 1_000)
        loan.end()
      })
      expect(await known(store, 'slow')).toEqual({ state: 'processed' })
    }),
  )

  test.skipIf(!server.available)('the wait for a lock may take longer', () =>
    through(async ({ store, sleep }) => {
      const held = gate()
      const holding = store.transaction(async (tx) => {
        await claim(store, tx, 'contended')
        held.open()
        await sleep(tx, (2 * answerTimeoutMs) / 1_000)
      })
      await held.opened
      const record = await store.transaction((tx) => claim(store, tx, 'contended'), { lockTimeoutMs: 10_000 })
      expect(record?.state).toBe('processed')
      await holding
    }),
  )
})
