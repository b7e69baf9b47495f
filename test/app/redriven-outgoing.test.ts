import pg from 'pg'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { OutgoingMessage } from '../../src/driver.ts'
import { toQueue } from '../../src/encoding/packed-message.ts'
import { justonce, type Publisher } from '../../src/index.ts'
import { refusedLetter } from '../../src/outgoing/refused-letter.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'

const postgres = await requireServer('postgres')
const queue = '>events'

/** An app whose broker has refused these messages, in this order, until they were dead letters. */
async function openRefused(messages: readonly Pick<OutgoingMessage, 'id' | 'key'>[]) {
  const pool = new pg.Pool({ connectionString: await createDatabase(postgres.url), max: 10 })
  const store = postgresStore({ pool })
  await store.schema.install()
  for (const [index, each] of messages.entries()) {
    const message = { type: 'note.tagged', body: Uint8Array.of(1), headers: {}, sentAt: new Date(), ...each }
    const queued = { ticket: `${index}.1`, deliveries: 10, message: toQueue(message).message }
    const letter = refusedLetter({ queue }, queued, message, new Error('the queue is full'), new Date())
    await store.transaction((tx) => store.parking.park(tx, [letter]))
  }
  const sent: string[] = []
  const publisher: Publisher = {
    destination: 'events',
    async publish(some) {
      sent.push(...some.map(({ id }) => id))
      return some.map(() => ({ kind: 'sent' }))
    },
    async close() {},
  }
  const app = justonce({ store, to: publisher, pollMs: 20, log: false })
  await app.start()
  onTestFinished(async () => {
    await app.stop()
    await store.close()
    await pool.end()
  })
  return { app, sent }
}

const allOf = (key: string) => Array.from({ length: 150 }, (_, index) => ({ id: `${key}${1_000 + index}`, key }))

test.skipIf(!postgres.available)(
  'dead letters of one key that are redriven together leave in their order',
  async () => {
    const messages = allOf('a').flatMap((each, index) => [each, allOf('b')[index] as typeof each])
    const { app, sent } = await openRefused(messages)
    await app.operations.letters.redrive({ handler: queue }, { by: 'me' })
    await vi.waitFor(() => expect(sent.length).toBe(messages.length), { timeout: 60_000 })
    for (const key of ['a', 'b'])
      expect(sent.filter((id) => id.startsWith(key))).toEqual(allOf(key).map(({ id }) => id))
  },
)

test.skipIf(!postgres.available)('one dead letter can be redriven without those before it in its key', async () => {
  const { app, sent } = await openRefused([
    { id: 'a1', key: 'a' },
    { id: 'a2', key: 'a' },
  ])
  await app.operations.letters.redrive({ messageId: 'a2' }, { by: 'me' })
  await vi.waitFor(() => expect(sent).toEqual(['a2']), { timeout: 60_000 })
})
