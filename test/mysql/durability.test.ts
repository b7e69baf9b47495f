import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { justonce } from '../../src/index.ts'
import { mysqlStore } from '../../src/stores/mysql/index.ts'
import { memoryTransport } from '../../src/transports/memory/index.ts'
import { type MariadbServer, startMariadb } from '../servers/mariadb.ts'
import { requireBinaries } from '../servers/require.ts'
import { newPool } from './mysql-context.ts'

const mariadb = await requireBinaries('mariadb')

describe.skipIf(!mariadb.available)('commits that a crash of the server may lose', () => {
  let server: MariadbServer
  let url: string
  beforeAll(async () => {
    // Global settings: nobody else may be on this server.
    server = await startMariadb({ settings: { innodb_flush_log_at_trx_commit: 2 } })
    url = await server.createDatabase()
  })
  afterAll(async () => await server?.stop())

  test('are warned of once at the start', async () => {
    const pool = newPool({ url })
    const app = justonce({ store: mysqlStore({ pool }), transport: memoryTransport() })
    app.on('note.created', 'tag-note', () => {})
    const heard: string[] = []
    app.events.listen((event) => {
      if (event.kind === 'warning') heard.push(`${event.code} ${event.message}`)
    })
    await app.start()
    await app.stop()
    await pool.end()
    expect(heard).toEqual([expect.stringMatching(/^COMMITS_NOT_DURABLE innodb_flush_log_at_trx_commit is 2\. Set /)])
  })
})
