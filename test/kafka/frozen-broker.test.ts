import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import * as kafka from '@platformatic/kafka'
import { expect, onTestFinished, test, vi } from 'vitest'
import { kafkaPublisher, kafkaTransport } from '../../src/transports/kafka/index.ts'

vi.setConfig({ testTimeout: 40_000 })

/** Takes connections and never answers, as a frozen broker does. */
async function frozenBroker() {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.resume()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const bootstrapServers = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return { bootstrapServers, connections: () => sockets.size }
}

type Broker = Awaited<ReturnType<typeof frozenBroker>>

test.for([
  {
    what: 'a transport that is inspected',
    open({ bootstrapServers }: Broker) {
      const transport = kafkaTransport({ kafka, bootstrapServers, topics: ['notes'], group: 'g' })
      return { asking: transport.inspect?.(), close: () => transport.close() }
    },
  },
  {
    what: 'a transport that is asked for the retention of its topics',
    open({ bootstrapServers }: Broker) {
      const transport = kafkaTransport({ kafka, bootstrapServers, topics: ['notes'], group: 'g' })
      return { asking: transport.redeliversForMs?.(), close: () => transport.close() }
    },
  },
  {
    what: 'a publisher that is inspected',
    open({ bootstrapServers }: Broker) {
      const publisher = kafkaPublisher({ kafka, bootstrapServers, topic: 'notes' })
      return { asking: publisher.inspect?.(), close: () => publisher.close() }
    },
  },
])(
  '$what ends its question when it is closed, because an open connection keeps the process alive',
  async ({ open }) => {
    const broker = await frozenBroker()
    const { asking, close } = open(broker)
    let isAnswered = false
    void asking
      ?.catch(() => {})
      .then(() => {
        isAnswered = true
      })
    await vi.waitFor(() => expect(broker.connections()).toBe(1), { timeout: 5_000 })
    await close()
    // Half a minute if nothing ends it.
    await vi.waitFor(
      () => expect({ isAnswered, connections: broker.connections() }).toEqual({ isAnswered: true, connections: 0 }),
      { timeout: 10_000 },
    )
  },
)
