import type { Pool } from 'mysql2/promise'
import { beforeEach, describe, expect, test } from 'vitest'
import { once } from '../../src/index.ts'
import { mysqlStore } from '../../src/stores/mysql/index.ts'
import { parkedMessage, recordOf } from '../../src/testing/sample-records.ts'
import { keysOf, park, reserve } from '../../src/testing/store-cases/parked-rows.ts'
import { askMysql, createMysqlDatabase } from '../servers/mysql-databases.ts'
import { requireServer } from '../servers/require.ts'
import { newPool } from './mysql-context.ts'

const mariadb = await requireServer('mariadb')

/** In these a digit is more than one byte. */
const encodings = ['utf16', 'utf16le', 'utf32', 'ucs2']

describe.skipIf(!mariadb.available).each(encodings)('sessions whose results are written in %s', (encoding) => {
  let url: string
  let pool: Pool
  beforeEach(async () => {
    url = await createMysqlDatabase(mariadb.url)
    // One connection: the store cannot but get the one that was spoilt.
    pool = newPool({ url, pool: { connectionLimit: 1 } })
    await mysqlStore({ pool }).schema.install()
    await pool.query('CREATE TABLE tags (note varchar(100) NOT NULL)')
    return () => pool.end()
  })

  const speak = () => pool.query(`SET character_set_results = '${encoding}'`)
  const tag = (tx: { query(sql: string): unknown }) => tx.query(`INSERT INTO tags VALUES ('Öl')`)
  const tags = () => askMysql(url, 'SELECT note FROM tags')
  const key = { handler: 'tag-note', key: 'm1' }

  test('a store that first hears of its server in such a session knows it all the same, and is the store that it was', async () => {
    await speak()
    const store = mysqlStore({ pool })
    await store.schema.check()
    expect(await once(store, key, tag)).toMatchObject({ status: 'processed' })
    await speak()
    expect(await once(store, key, tag)).toMatchObject({ status: 'duplicate', processedAt: expect.any(Date) })
    await speak()
    expect(await recordOf(store, key)).toMatchObject({ state: 'processed' })
    expect(await tags()).toEqual([{ note: 'Öl' }])
  })

  test('a parked message is reserved as it is, and once', async () => {
    const store = mysqlStore({ pool })
    await park(store, parkedMessage('m2'))
    await speak()
    expect(keysOf(await reserve(store, { limit: 5 }))).toEqual(['m2'])
    await speak()
    await pool.query(`SET character_set_client = 'binary', character_set_connection = 'binary'`)
    expect(keysOf(await reserve(store, { limit: 5 }))).toEqual([])
  })

  test('a borrower that leaves its session so does it to nobody else', async () => {
    const store = mysqlStore({ pool })
    await store.transaction(async (tx) => {
      const loan = store.lend(tx, { borrower: 'tag-note', onLateCall: () => {} })
      await loan.tx.query(`SET character_set_results = '${encoding}'`)
      await loan.end()
      await store.parking.park(tx, [parkedMessage('m3')])
      expect((await store.inbox.claim(tx, [{ ...key, fingerprint: undefined }])).existing).toEqual([undefined])
    })
    expect((await store.parking.list({ key: 'm3' })).map(({ sequence }) => Number(sequence) > 0)).toEqual([true])
  })

  test('in a transaction of the application a record that cannot be read is refused by name', async () => {
    const store = mysqlStore({ pool })
    await once(store, key, tag)
    const tx = await pool.getConnection()
    await tx.query(`SET character_set_results = '${encoding}'`)
    await tx.beginTransaction()
    await expect(once(store.within(tx), key, tag)).rejects.toMatchObject({
      code: 'STORE_DENIED',
      message: expect.stringContaining('character_set_results'),
    })
    await tx.rollback()
    tx.release()
    expect(await tags()).toHaveLength(1)
  })
})
