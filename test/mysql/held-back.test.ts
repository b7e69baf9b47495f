import type { Pool, RowDataPacket } from 'mysql2/promise'
import { describe, expect, onTestFinished, test } from 'vitest'
import { mysqlStore } from '../../src/stores/mysql/index.ts'
import { parkedMessage } from '../../src/testing/sample-records.ts'
import { createMysqlDatabase } from '../servers/mysql-databases.ts'
import { requireServer } from '../servers/require.ts'
import { newPool } from './mysql-context.ts'

const mariadb = await requireServer('mariadb')
const many = 2_000

/** So many rows of a handler that wait. */
async function openWith(handler: string) {
  // One connection, because it is this one that counts what it reads.
  const url = await createMysqlDatabase(mariadb.url)
  const pool = newPool({ url, pool: { connectionLimit: 1 } })
  const store = mysqlStore({ pool })
  onTestFinished(() => pool.end())
  await store.schema.install()
  const rows = Array.from({ length: many }, (_, index) =>
    parkedMessage(`k${index}`, { handler, messageId: `k${index}` }),
  )
  await store.transaction((tx) => store.parking.park(tx, rows))
  return { url, pool, store }
}

async function rowsRead(pool: Pool): Promise<number> {
  const [rows] = await pool.query<RowDataPacket[]>(`SHOW SESSION STATUS LIKE 'Handler_read_%'`)
  return rows.reduce((sum, { Value }) => sum + Number(Value), 0)
}

describe.skipIf(!mariadb.available)('beside many messages that wait', () => {
  test('those who look for something else read only index entries of calls that are held to a rate', async () => {
    const { pool, store } = await openWith('!slow')
    const wanted = [
      { handler: 'tag-note', type: 'note.created' },
      { handler: '!fast', type: undefined },
    ]
    const before = await rowsRead(pool)
    const due = await store.parking.reserve({ limit: 20, maxBytes: 1_000_000, forMs: 1, wanted, pastDead: [] })
    expect(due).toEqual([])
    expect((await rowsRead(pool)) - before).toBeLessThan(many)
  })

  test('who cancels one reads none of the others, and waits for nobody who has it', async () => {
    const { url, pool, store } = await openWith('@>events')
    const cancel = (messageId: string) =>
      store.transaction((tx) => store.parking.edit(tx, { kind: 'delayed', messageId }, { kind: 'remove' }, 1_000))
    const before = await rowsRead(pool)
    expect(await cancel('k7')).toEqual([{ handler: '@>events', key: 'k7' }])
    expect((await rowsRead(pool)) - before).toBeLessThan(many)
    const rival = newPool({ url })
    onTestFinished(() => rival.end())
    const other = mysqlStore({ pool: rival })
    const [row] = await other.parking.list({ kind: 'delayed', messageId: 'k8' })
    await other.transaction(async (tx) => {
      expect(await other.parking.take(tx, row === undefined ? [] : [row])).toEqual([true])
      expect(await cancel('k8')).toEqual([])
    })
    expect(await cancel('k8')).toHaveLength(1)
  })
})
