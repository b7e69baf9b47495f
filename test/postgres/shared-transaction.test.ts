import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type HandlerOptions, justonce, type Message } from '../../src/index.ts'
import { type PostgresStore, postgresStore } from '../../src/stores/postgres/index.ts'
import { memoryTransport } from '../../src/transports/memory/index.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'

const postgres = await requireServer('postgres')

/** What a message saw of the one before it: its tenant, and the time at which its transaction began. */
interface Seen {
  readonly tenant: string
  readonly now: string
}

describe.skipIf(!postgres.available)('what messages share when they share a transaction', () => {
  let pool: pg.Pool
  let store: PostgresStore<pg.PoolClient>
  beforeAll(async () => {
    pool = new pg.Pool({ connectionString: await createDatabase(postgres.url) })
    store = postgresStore({ pool })
    await store.schema.install()
  })
  afterAll(async () => {
    await store.close()
    await pool.end()
  })

  /** Two messages at once; each looks at the tenant and then sets its own for the rest of the transaction. */
  async function handleTwo(
    options: Omit<HandlerOptions, 'name'>,
    beforeEach?: (message: Message, tx: pg.PoolClient) => unknown,
  ): Promise<Seen[]> {
    const seen: Seen[] = []
    const transport = memoryTransport()
    const app = justonce({ store, transport, concurrency: 1, ...(beforeEach === undefined ? {} : { beforeEach }) })
    app.on('note.created', { name: `tag-note-${crypto.randomUUID()}`, ...options }, async ({ id }, { tx }) => {
      const { rows } = await tx.query("SELECT current_setting('app.tenant', true) AS tenant, now()::text AS now")
      seen.push({ tenant: rows[0].tenant ?? '', now: rows[0].now })
      await tx.query("SELECT set_config('app.tenant', $1, true)", [`left by ${id}`])
    })
    transport.send(['m1', 'm2'].map((id) => ({ id, type: 'note.created', body: {} })))
    await app.start()
    await transport.idle()
    await app.stop()
    return seen
  }

  test('a shared transaction: now() is that of the message before, but SET LOCAL has ended with it', async () => {
    const [first, second] = (await handleTwo({})) as [Seen, Seen]
    expect([first.tenant, second.tenant]).toEqual(['', ''])
    expect(second.now).toBe(first.now)
  })

  test("transaction: 'own' shares neither", async () => {
    const [first, second] = (await handleTwo({ transaction: 'own' })) as [Seen, Seen]
    expect([first.tenant, second.tenant]).toEqual(['', ''])
    expect(second.now).not.toBe(first.now)
  })

  test('beforeEach sets the context of each message, so that none is left over', async () => {
    const seen = await handleTwo({}, ({ id }, tx) =>
      tx.query("SELECT set_config('app.tenant', $1, true)", [`tenant of ${id}`]),
    )
    expect(seen.map(({ tenant }) => tenant)).toEqual(['tenant of m1', 'tenant of m2'])
  })
})
