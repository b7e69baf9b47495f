import type { Transport } from '../../src/contracts/index.ts'
import type { TransportCaseContext } from '../../src/testing/index.ts'
import { type MemoryTransportOptions, memoryTransport } from '../../src/transports/memory/index.ts'
import { bindTransportCases } from './bind-transport-cases.ts'

async function open(options: MemoryTransportOptions): Promise<TransportCaseContext> {
  const shared = memoryTransport(options)
  const connections: Transport[] = []
  const connect = async (): Promise<Transport> => {
    const connection = shared.connect()
    connections.push(connection)
    return connection
  }
  return {
    connect,
    async connectMortal() {
      const transport = await connect()
      return { transport, die: () => transport.close() }
    },
    async close() {
      for (const connection of connections) await connection.close()
    },
  }
}

for (const order of ['none', 'key', 'lane'] as const) {
  bindTransportCases(`memory transport, order: ${order}`, { open: () => open({ order }) })
}
