import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { justonce } from '../../src/index.ts'
import { memoryTransport } from '../../src/memory.ts'
import { mysqlStore } from '../../src/stores/mysql/index.ts'
import { createMysqlDatabase } from '../servers/mysql-databases.ts'
import { startProxy } from '../servers/proxy.ts'
import { requireServer } from '../servers/require.ts'
import { newPool } from './mysql-context.ts'

const mariadb = await requireServer('mariadb')

async function openApp(changeUrl = (url: string) => url) {
  const url = await createMysqlDatabase(mariadb.url)
  const { hostname, port } = new URL(url)
  const proxy = await startProxy(hostname, Number(port))
  const pool = newPool({ url: changeUrl(proxy.url(url)) })
  const transport = memoryTransport()
  const app = justonce({ store: mysqlStore({ pool }), transport })
  app.on('note.created', 'tag-note', () => {})
  const kinds: string[] = []
  app.events.listen(({ kind }) => kinds.push(kind))
  onTestFinished(async () => {
    await app.stop()
    await pool.end()
    await proxy.stop()
  })
  return { app, proxy, transport, kinds }
}

describe.skipIf(!mariadb.available)('a database that is away at the start', () => {
  test('is waited for, and then everything is as ever', async () => {
    const { app, proxy, transport, kinds } = await openApp()
    await proxy.refuse()
    const started = app.start()
    await vi.waitFor(() => expect(kinds).toEqual(['store-down']), { timeout: 10_000 })
    await proxy.accept()
    await started
    expect(kinds).toContain('store-up')
    transport.send({ id: 'm1', type: 'note.created', body: {} })
    await transport.idle()
  }, 30_000)

  test('a database that is not there is none that is away', async () => {
    const { app, kinds } = await openApp((url) => `${url}_nowhere`)
    await expect(app.start()).rejects.toThrow(/Unknown database/)
    expect(kinds).toEqual([])
  }, 30_000)
})
