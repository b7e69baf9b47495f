import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import pg from 'pg'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { localhost } from './address.ts'
import { createDatabase, withClient } from './postgres-databases.ts'
import { type FaultProxy, startProxy } from './proxy.ts'
import { requireServer } from './require.ts'
import { StreamSearch, toRegExp } from './stream-search.ts'

const postgres = await requireServer('postgres')

describe.skipIf(!postgres.available)('a proxy before Postgres', () => {
  let directUrl: string
  let proxy: FaultProxy
  let client: pg.Client
  beforeAll(async () => {
    directUrl = await createDatabase(postgres.url)
    await withClient(directUrl, (direct) => direct.query('CREATE TABLE effect ()'))
  })
  beforeEach(async () => {
    await withClient(directUrl, (direct) => direct.query('TRUNCATE effect'))
    const { hostname, port } = new URL(directUrl)
    proxy = await startProxy(hostname, Number(port))
    client = new pg.Client(proxy.url(directUrl))
    client.on('error', () => {})
    await client.connect()
  })
  afterEach(() => proxy.stop())

  async function countEffects(): Promise<number> {
    const { rows } = await withClient(directUrl, (direct) => direct.query('SELECT count(*)::int FROM effect'))
    return rows[0].count
  }

  async function commitOneEffect(): Promise<void> {
    await client.query('BEGIN')
    await client.query('INSERT INTO effect DEFAULT VALUES')
    await client.query('COMMIT')
  }

  test('lets everything through', async () => {
    await commitOneEffect()
    expect(await countEffects()).toBe(1)
  })

  test('cuts before the commit: the client sees an error, and nothing has happened', async () => {
    const cut = proxy.cutWhenClientSends('COMMIT', 'before')
    await expect(commitOneEffect()).rejects.toThrow(/terminated|ECONNRESET/)
    await cut
    expect(await countEffects()).toBe(0)
  })

  test('cuts after the commit: the client sees the same error, but it has happened', async () => {
    const cut = proxy.cutWhenClientSends(/commit/i, 'after-forward')
    await expect(commitOneEffect()).rejects.toThrow(/terminated|ECONNRESET/)
    await cut
    expect(await countEffects()).toBe(1)
  })

  test('cuts once: the next connection works', async () => {
    const cut = proxy.cutWhenClientSends('COMMIT', 'before')
    await expect(commitOneEffect()).rejects.toThrow()
    await cut
    await withClient(proxy.url(directUrl), (next) => next.query('BEGIN; COMMIT'))
  })

  test('cuts all connections', async () => {
    const waiting = client.query('SELECT pg_sleep(60)')
    proxy.cutAll()
    await expect(waiting).rejects.toThrow(/terminated|ECONNRESET/)
  })

  test('holds everything back while paused', async () => {
    proxy.pause()
    const effect = client.query('INSERT INTO effect DEFAULT VALUES')
    const first = await Promise.race([effect.then(() => 'the answer'), countEffects().then((count) => count)])
    expect(first).toBe(0)
    proxy.resume()
    await effect
    expect(await countEffects()).toBe(1)
  })

  test('slows everything down, in both directions', async () => {
    const delayMs = 60
    proxy.slow(delayMs)
    const begunAt = performance.now()
    await client.query('INSERT INTO effect DEFAULT VALUES')
    // Not a bound on how fast something is: it cannot be faster than it is made to be.
    expect(performance.now() - begunAt).toBeGreaterThanOrEqual(2 * delayMs - 2)
    proxy.slow(0)
    expect(await countEffects()).toBe(1)
  })

  test('half-closed: the server hears nothing more of the client, not even its end, and can still talk', async () => {
    await client.query('LISTEN news')
    const { rows } = await client.query('SELECT pg_backend_pid() AS pid')
    proxy.halfClose()
    const news = once(client, 'notification')
    await withClient(directUrl, (direct) => direct.query("NOTIFY news, 'still there'"))
    expect((await news)[0].payload).toBe('still there')

    const unanswered = client.query('INSERT INTO effect DEFAULT VALUES').catch((error: Error) => error.message)
    await client.end()
    expect(await unanswered).toMatch(/terminated/)
    const session = 'SELECT state FROM pg_stat_activity WHERE pid = $1'
    const seen = await withClient(directUrl, (direct) => direct.query(session, [rows[0].pid]))
    expect(seen.rows).toEqual([{ state: 'idle' }])
    expect(await countEffects()).toBe(0)

    await withClient(proxy.url(directUrl), (next) => next.query('SELECT 1'))
    proxy.cutAll()
    await expect
      .poll(async () => (await withClient(directUrl, (direct) => direct.query(session, [rows[0].pid]))).rows)
      .toEqual([])
  })

  test('refuses new connections while the open ones go on, and accepts again', async () => {
    await proxy.refuse()
    const refused = connect(proxy.port, proxy.host)
    await expect(once(refused, 'connect')).rejects.toThrow('ECONNREFUSED')
    await commitOneEffect()
    await proxy.accept()
    await withClient(proxy.url(directUrl), (next) => next.query('SELECT 1'))
  })
})

describe('a proxy before a server that gets several requests at once', () => {
  test('waits for the answer that was named', async () => {
    const answered: string[] = []
    const server = createServer((socket) => {
      createInterface(socket).on('line', (request) => {
        answered.push(request)
        socket.write(`${request} done\n`)
      })
    }).listen(0, localhost)
    await once(server, 'listening')
    const proxy = await startProxy(localhost, (server.address() as AddressInfo).port)
    const cut = proxy.cutWhenClientSends('commit', 'after-forward', { answer: 'commit done' })

    const client = connect(proxy.port, proxy.host)
    client.write('insert\ncommit\n')
    const received = text(client).catch(() => '')
    await cut
    expect(answered).toEqual(['insert', 'commit'])
    expect(await received).toBe('')
    await proxy.stop()
    server.close()
  })
})

describe('finding a pattern in a stream', () => {
  test('sees a match that is split between chunks, once', () => {
    const search = new StreamSearch()
    const commit = toRegExp('COMMIT;')
    const found = ['… COM', 'MIT', '; BEGIN', ' COMMIT; '].map((text) => search.next(Buffer.from(text))(commit))
    expect(found).toEqual([false, false, true, true])
  })

  test('sees a match that begins some statements before it ends', () => {
    const search = new StreamSearch()
    search.next(Buffer.from('INSERT m008'))
    for (let statement = 0; statement < 10; statement++) search.next(Buffer.alloc(4_000, 'x'))
    expect(search.next(Buffer.from('COMMIT'))(toRegExp(/m008[\s\S]*COMMIT/))).toBe(true)
  })

  test('takes text literally and expressions with any flags', () => {
    const isIn = new StreamSearch().next(Buffer.from('SELECT $1 -- größe'))
    expect(isIn(toRegExp('$1'))).toBe(true)
    expect(isIn(toRegExp('größe'))).toBe(true)
    expect(isIn(toRegExp(/select \$\d/gi))).toBe(true)
    expect(isIn(toRegExp('$2'))).toBe(false)
  })
})
