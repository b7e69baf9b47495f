import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type JustonceEvent, justonce } from '../../src/index.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { memoryTransport } from '../../src/transports/memory/index.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'
import { poolsOf, type SharedPool } from './opened-clients.ts'

const server = await requireServer('postgres')

/** As before version 8.23: it has no such member, and asks for none. */
class OldClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super(config)
    delete (this as { pipeline?: boolean }).pipeline
  }
}

function openOld(url: string): Pick<SharedPool, 'store' | 'query' | 'run' | 'close'> {
  const pool = new pg.Pool({ connectionString: url, max: 1, Client: OldClient } as pg.PoolConfig)
  const store = postgresStore({ pool, listen: false })
  return {
    store: store as unknown as SharedPool['store'],
    query: async (text) => (await pool.query(text)).rows,
    run: async (tx, text) => (await (tx as pg.PoolClient).query(text)).rows,
    close: () => pool.end(),
  }
}

const ids = Array.from({ length: 24 }, (_, index) => `m${index}`)

describe.skipIf(!server.available)('a client that cannot pipeline', () => {
  let url: string
  beforeEach(async () => {
    url = await createDatabase(server.url)
  })
  afterEach(() => {
    vi.restoreAllMocks()
  })

  async function handled({ store, query, run }: Pick<SharedPool, 'store' | 'query' | 'run'>, interleave: boolean) {
    const printed = vi.spyOn(console, 'warn').mockImplementation(() => {})
    await query('CREATE TABLE tags (note text PRIMARY KEY, count int NOT NULL)')
    const transport = memoryTransport()
    const app = justonce({ store, transport, heartbeat: false, concurrency: 1 })
    const events: JustonceEvent[] = []
    app.events.listen((event) => events.push(event), { replacesLog: false })
    app.on('note.created', { name: 'tag-note', interleave }, async ({ id }, { tx }) => {
      await run(tx, `INSERT INTO tags VALUES ('${id}', 0)`)
      await run(tx, `UPDATE tags SET count = count + 1 WHERE note = '${id}'`)
    })
    await app.start()
    transport.send(ids.map((id) => ({ id, type: 'note.created', body: {} })))
    const until = performance.now() + 10_000
    while (transport.settled().length < ids.length && performance.now() < until) await pause(5)
    await app.stop()
    return {
      warnings: events.flatMap((event) => (event.kind === 'warning' ? event.code : [])),
      printed: printed.mock.calls.map(([line]) => String(line)),
      counts: await query('SELECT count(*)::int AS notes, sum(count)::int AS total FROM tags'),
    }
  }

  test('is warned of once if a handler interleaves, in the log, too, and each message takes effect once', async () => {
    const old = openOld(url)
    const { warnings, printed, counts } = await handled(old, true)
    await old.close()
    expect(warnings).toEqual(['CANNOT_PIPELINE'])
    expect(printed).toEqual([expect.stringContaining('Use pg 8.23 or later')])
    expect(counts).toEqual([{ notes: ids.length, total: ids.length }])
  })

  test('matters to no other handler', async () => {
    const old = openOld(url)
    const { warnings } = await handled(old, false)
    await old.close()
    expect(warnings).toEqual([])
  })

  test.each(poolsOf)('$client can, and nothing is said', async ({ open }) => {
    const shared = open({ url })
    const { warnings, printed } = await handled(shared, true)
    await shared.close()
    expect({ warnings, printed }).toEqual({ warnings: [], printed: [] })
  })
})
