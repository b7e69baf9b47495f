import type { RowDataPacket } from 'mysql2/promise'
import { describe, expect, test } from 'vitest'
import { mysqlStore } from '../../src/stores/mysql/index.ts'
import { parkedMessage } from '../../src/testing/sample-records.ts'
import { createMysqlDatabase } from '../servers/mysql-databases.ts'
import { requireServer } from '../servers/require.ts'
import { newPool } from './mysql-context.ts'

const mariadb = await requireServer('mariadb')
const heldBack = 2_000

describe.skipIf(!mariadb.available)('calls of an effect that is held to a rate', () => {
  test('are not read by those who look for something else: their index entries are enough', async () => {
    // One connection, because it is this one that counts what it reads.
    const pool = newPool({ url: await createMysqlDatabase(mariadb.url), pool: { connectionLimit: 1 } })
    const store = mysqlStore({ pool })
    const rowsRead = async (): Promise<number> => {
      const [rows] = await pool.query<RowDataPacket[]>(`SHOW SESSION STATUS LIKE 'Handler_read_%'`)
      return rows.reduce((sum, { Value }) => sum + Number(Value), 0)
    }
    try {
      await store.schema.install()
      const rows = Array.from({ length: heldBack }, (_, index) => parkedMessage(`k${index}`, { handler: '!slow' }))
      await store.transaction((tx) => store.parking.park(tx, rows))
      const wanted = [
        { handler: 'tag-note', type: 'note.created' },
        { handler: '!fast', type: undefined },
      ]
      const before = await rowsRead()
      const due = await store.parking.reserve({ limit: 20, maxBytes: 1_000_000, forMs: 1, wanted, pastDead: [] })
      expect(due).toEqual([])
      expect((await rowsRead()) - before).toBeLessThan(heldBack)
    } finally {
      await pool.end()
    }
  })
})
