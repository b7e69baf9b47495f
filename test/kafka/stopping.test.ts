import * as client from '@platformatic/kafka'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { justonce } from '../../src/index.ts'
import { memoryStore } from '../../src/memory.ts'
import { kafkaTransport } from '../../src/transports/kafka/index.ts'
import { startKafka } from '../servers/kafka.ts'
import { requireServer } from '../servers/require.ts'
import { openTopic } from './open-kafka.ts'

const kafka = await requireServer('kafka')

describe.skipIf(!kafka.available)('stopping', () => {
  test('a broker that has frozen does not hold up the end', async () => {
    const server = await startKafka()
    onTestFinished(() => server.stop())
    const topic = await openTopic(server.url)
    const { address, name, group } = topic
    const transport = kafkaTransport({ kafka: client, bootstrapServers: address, topics: [name], group })
    const app = justonce({ store: memoryStore(), transport })
    const seen: string[] = []
    app.on('note.created', 'count', ({ id }) => void seen.push(id))
    await app.start()
    await app.publish('note.created', {}, { id: 'm1' })
    await vi.waitFor(() => expect(seen).toEqual(['m1']), { timeout: 30_000 })
    server.signal('SIGSTOP')
    onTestFinished(() => server.signal('SIGCONT'))
    const sending = app.publish('note.created', {}, { id: 'm2' }).catch(() => {})
    // Otherwise the test runs out of time: the client waits for half a minute and more.
    const stopped = app.stop({ withinMs: 10_000 }).then(() => 'stopped')
    const patience = new Promise((resolve) => setTimeout(resolve, 24_000, 'still waiting'))
    expect(await Promise.race([stopped, patience])).toBe('stopped')
    server.signal('SIGCONT')
    await sending
  }, 120_000)
})
