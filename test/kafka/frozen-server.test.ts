import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { requireServer } from '../servers/require.ts'
import { openTopic } from './open-kafka.ts'

vi.setConfig({ testTimeout: 60_000 })
const server = await requireServer('kafka')

/** Takes connections and never answers. */
async function frozenAddress(): Promise<string> {
  const sockets = new Set<Socket>()
  const frozen = createServer((socket) => void sockets.add(socket.resume()))
  frozen.listen(0, '127.0.0.1')
  await once(frozen, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    frozen.close()
  })
  return `127.0.0.1:${(frozen.address() as AddressInfo).port}`
}

describe.skipIf(!server.available)('the first of several servers has frozen', () => {
  test('the others are asked: messages are published and read', async () => {
    const topic = await openTopic(server.url, { partitions: 1 })
    const bootstrapServers = [await frozenAddress(), topic.address]
    const transport = topic.connect({ bootstrapServers, clientOptions: { requestTimeout: 1_000 } } as object)
    const ending = new AbortController()
    onTestFinished(async () => {
      ending.abort()
      await topic.close()
    })
    const seen: (string | undefined)[] = []
    const reading = (async () => {
      // As the app does: reading that has failed begins again.
      while (!ending.signal.aborted) {
        try {
          for await (const some of transport.deliveries({ signal: ending.signal, maxInFlight: 20 })) {
            seen.push(...some.map(({ message }) => message.id))
            await transport.settle(some, { kind: 'done' })
          }
        } catch {}
      }
    })()
    const message = { type: 't', body: new TextEncoder().encode('{}'), headers: {}, key: 'k', sentAt: new Date() }
    const publish = (id: string) => transport.publish([{ ...message, id, expiresAt: undefined }])
    await vi.waitFor(() => publish('m1'), { timeout: 30_000 })
    await vi.waitFor(() => expect(seen).toContain('m1'), { timeout: 30_000 })
    ending.abort()
    await reading
  })
})
