import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { justonce, operations } from '../../src/index.ts'
import { memoryTransport } from '../../src/memory.ts'
import { requireServer } from '../servers/require.ts'
import { connected, freshTag, isolatedStore, type TestClient } from './open-redis.ts'

const redis = await requireServer('redis')

describe.skipIf(!redis.available)('the story of a message', () => {
  let client: TestClient
  beforeAll(async () => {
    client = await connected(redis.url)
  })
  afterAll(() => client?.destroy())

  test('names the handlers that have processed it, also when no process has them any more', async () => {
    const tag = freshTag()
    const transport = memoryTransport()
    const app = justonce({ store: isolatedStore(client, tag), transport, log: false })
    app.on('note.created', 'tag-note', () => {})
    transport.send([{ id: 'm1', type: 'note.created', body: {} }])
    await app.start()
    await transport.idle()
    await app.stop()

    const { messages } = operations(isolatedStore(client, tag))
    expect((await messages.story('m1'))?.handlers).toMatchObject([{ handler: 'tag-note', state: 'processed' }])
    expect(await messages.find({ id: 'm1' })).toMatchObject([{ handler: 'tag-note', state: 'processed' }])
    expect(await messages.story('m2')).toBeUndefined()
  })
})
