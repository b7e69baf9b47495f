import * as client from '@platformatic/kafka'
import pg from 'pg'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { justonce } from '../../src/index.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { kafkaTransport } from '../../src/transports/kafka/index.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'
import { openTopic } from './open-kafka.ts'
import { sendRaw } from './raw-records.ts'

const kafka = await requireServer('kafka')
const postgres = await requireServer('postgres')

describe.skipIf(!kafka.available || !postgres.available)('keys as Java writes numbers', () => {
  test('keep their order like any other, and stop nothing', async () => {
    const topic = await openTopic(kafka.url, { partitions: 1 })
    const pool = new pg.Pool({ connectionString: await createDatabase(postgres.url) })
    const { address, name, group } = topic
    const transport = kafkaTransport({
      kafka: client,
      bootstrapServers: address,
      topics: [name],
      group,
      id: 'id',
      type: () => 'note.created',
    })
    const app = justonce({ store: postgresStore({ pool }), transport, pollMs: 20 })
    onTestFinished(async () => {
      await app.stop()
      await pool.end()
      await topic.close()
    })
    const seen: string[] = []
    let failures = 1
    const retry = { attempts: 3, backoff: () => 10 }
    app.on('note.created', { name: 'tag-note', ordered: { by: 'key' }, retry }, ({ id }, { afterCommit }) => {
      if (id === 'm0' && failures-- > 0) throw new Error('the first time')
      afterCommit(() => seen.push(id))
    })
    await app.start()
    const key = Buffer.alloc(8)
    key.writeBigInt64BE(7n)
    const ids = Array.from({ length: 10 }, (_, index) => `m${index}`)
    await sendRaw(
      topic,
      ids.map((id) => ({
        key,
        value: Buffer.from('{}'),
        headers: new Map([[Buffer.from('id'), Buffer.from(id)]]),
      })),
    )
    await vi.waitFor(() => expect(seen).toEqual(ids), { timeout: 30_000 })
  }, 60_000)
})
