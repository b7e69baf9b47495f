import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Transport } from '../../src/contracts/index.ts'
import type { TransportCaseContext } from '../../src/testing/index.ts'
import { webhookTransport } from '../../src/transports/webhooks/index.ts'
import { bindTransportCases } from './bind-transport-cases.ts'
import { WebhookSender } from './webhook-sender.ts'

/** The queue is the sender: what has not been answered with 200 is still there, and it sends it again. */
async function open(): Promise<TransportCaseContext> {
  const sender = new WebhookSender()
  const opened: { readonly server: Server; readonly transport: Transport }[] = []

  const connect = async () => {
    const hooks = webhookTransport({ verify: () => true })
    const server = createServer(hooks.nodeHandler)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    sender.add(address)
    const transport: Transport = {
      ...hooks,
      destination: hooks.name,
      async publish(messages) {
        sender.send(messages)
        return messages.map(() => ({ kind: 'sent' as const }))
      },
      async close() {
        sender.remove(address)
        await hooks.close()
        await sender.answered(address)
      },
    }
    opened.push({ server, transport })
    return { transport, server, address }
  }

  return {
    connect: async () => (await connect()).transport,
    async connectMortal() {
      const { transport, server, address } = await connect()
      return {
        transport,
        async die() {
          sender.remove(address)
          server.closeAllConnections()
          server.close()
        },
      }
    },
    async close() {
      await sender.end()
      for (const { server, transport } of opened) {
        await transport.close()
        server.closeAllConnections()
        server.close()
      }
    },
  }
}

bindTransportCases('webhooks', {
  open,
  skip: [
    {
      case: 'content: headers arrive as they were, with odd names and values',
      reason: 'HTTP header names have no spaces, and values are ASCII without edges',
    },
  ],
})
