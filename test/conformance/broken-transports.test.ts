import { describe, expect, test } from 'vitest'
import type { Delivery, IncomingMessage, PublishResult, Transport } from '../../src/contracts/index.ts'
import { MemoryDatabase, memoryStore } from '../../src/stores/memory/index.ts'
import { runTransportCase, type TransportCaseContext, transportCases } from '../../src/testing/index.ts'
import { memoryTransport } from '../../src/transports/memory/index.ts'
import { brokenOrders } from './broken-orders.ts'
import { type Break, type BrokenTransport, settlesByMessage } from './broken-transport.ts'
import { queueContext } from './queue-context.ts'

/** Changes every delivery on its way; by its receipt it is still settled. */
function changing(change: (message: IncomingMessage) => Partial<IncomingMessage>): Break {
  return (connection) => ({
    ...connection,
    async *deliveries(options) {
      for await (const deliveries of connection.deliveries(options))
        yield deliveries.map((each) => ({ ...each, message: { ...each.message, ...change(each.message) } }))
    },
  })
}

/** Each way to be wrong, and a case that must notice it. */
const broken: readonly BrokenTransport[] = [
  {
    name: 'forgets what it should send',
    caught: 'deliver: delivers what was published before anyone read',
    break: (connection) => ({ ...connection, publish: async (messages) => messages.map(() => ({ kind: 'sent' })) }),
  },
  {
    name: 'says nothing of the broker before it has something to deliver',
    caught: 'deliver: reports that the broker was reached, even while there is nothing to deliver',
    break: (connection) => ({
      ...connection,
      deliveries: (options) => connection.deliveries({ ...options, connected: undefined }),
    }),
  },
  {
    name: 'sends what follows a refused message of its key',
    caught: 'order: what follows a refused message of its key is not sent, and everything else is',
    break: (connection) => ({
      ...connection,
      publish: async (messages) => (await Promise.all(messages.map((message) => connection.publish([message])))).flat(),
    }),
  },
  {
    name: 'stops sending at the first refused message',
    caught: 'order: what follows a refused message of its key is not sent, and everything else is',
    break: (connection) => ({
      ...connection,
      publish: (messages) => connection.publish(messages.map((message) => ({ ...message, key: 'one for all' }))),
    }),
  },
  {
    name: 'answers a bulk with one result',
    caught: 'deliver: publish returns one result for each message',
    break: (connection) => ({
      ...connection,
      publish: async (messages) => (await connection.publish(messages)).slice(0, 1),
    }),
  },
  {
    name: 'pays no heed to maxInFlight',
    caught: 'deliver: at most maxInFlight deliveries are unsettled, and each settled one makes room',
    break: (connection) => ({
      ...connection,
      deliveries: ({ signal }) => connection.deliveries({ signal, maxInFlight: 1_000 }),
    }),
  },
  {
    name: 'loses the last of every bulk',
    caught: 'deliver: of 1,000 messages with 300 duplicates, none is missing',
    break: (connection) => ({
      ...connection,
      publish: async (messages) => {
        await connection.publish(messages.slice(0, -1))
        return messages.map(() => ({ kind: 'sent' }))
      },
    }),
  },
  {
    name: 'reads bodies as text',
    caught: 'content: the body arrives byte for byte: every byte',
    break: changing(({ body }) => ({ body: new TextEncoder().encode(new TextDecoder().decode(body)) })),
  },
  {
    name: 'assigns headers one by one',
    caught: 'content: headers arrive as they were, with odd names and values',
    break: changing(({ headers }) => {
      const assigned: Record<string, string> = {}
      for (const [name, value] of Object.entries(headers)) assigned[name] = value
      return { headers: assigned }
    }),
  },
  {
    name: 'does not acknowledge',
    caught: 'settle: what was settled as done is never delivered again',
    break: (connection) => ({
      ...connection,
      settle: async (deliveries, settlement) => {
        if (settlement.kind === 'release') await connection.settle(deliveries, settlement)
      },
    }),
  },
  {
    name: 'acknowledges everything up to the highest',
    caught: 'settle: settles in bulk, in any order, and only what it was given',
    break: (connection) => {
      const seen: Delivery[] = []
      return {
        ...connection,
        async *deliveries(options) {
          for await (const deliveries of connection.deliveries(options)) {
            seen.push(...deliveries)
            yield deliveries
          }
        },
        settle: (deliveries, settlement) =>
          connection.settle(seen.splice(0, Math.max(...deliveries.map((each) => seen.indexOf(each))) + 1), settlement),
      }
    },
  },
  {
    name: 'loses what is released',
    caught: 'settle: what is released is delivered again, also to the same reader',
    break: (connection) => ({ ...connection, settle: (deliveries) => connection.settle(deliveries, { kind: 'done' }) }),
  },
  {
    name: 'always calls it the first delivery',
    caught: 'end: what a dead consumer held is delivered again, marked as a redelivery',
    break: (connection) => ({
      ...connection,
      async *deliveries(options) {
        for await (const deliveries of connection.deliveries(options)) {
          for (const each of deliveries) Object.assign(each, { count: 1, redelivered: false })
          yield deliveries
        }
      },
    }),
  },
  {
    name: 'settles by message, even if another holds it',
    caught: 'settle: settling a delivery of a closed connection neither fails nor touches anything',
    break: settlesByMessage,
  },
  {
    name: 'gives every consumer everything',
    caught: 'share: two consumers share the messages without overlap',
    break: (_, shared) => {
      const all = memoryTransport()
      all.send(shared.pending())
      return { ...all, publish: shared.publish }
    },
  },
  {
    name: 'brings the last first',
    caught: 'order: messages of one key are delivered in the order in which they were published',
    break: (connection) => ({ ...connection, publish: (messages) => connection.publish(messages.toReversed()) }),
  },
  {
    name: 'does not hear the abort',
    caught: 'end: abort ends an iteration that waits for messages',
    break: (connection) => ({
      ...connection,
      deliveries: ({ maxInFlight }) => connection.deliveries({ signal: new AbortController().signal, maxInFlight }),
    }),
  },
  {
    name: 'keeps what a dead consumer held',
    caught: 'end: what a dead consumer held is delivered again, marked as a redelivery',
    break: (connection) => ({ ...connection, close: async () => {} }),
  },
  {
    name: 'forgets when a message expires',
    caught: 'content: the expiry of a message arrives, and only if it has one',
    break: changing(() => ({ expiresAt: undefined })),
  },
]

/** Refuses what has this header, as it should be done. */
const refused = { headers: { refuse: 'yes' } }
function refusing(connection: Transport): Transport {
  return {
    ...connection,
    async publish(messages) {
      const results: PublishResult[] = []
      const stopped = new Set<string | undefined>()
      for (const message of messages) {
        if (message.key !== undefined && stopped.has(message.key)) results.push({ kind: 'held' })
        else if (message.headers.refuse === undefined) results.push(...(await connection.publish([message])))
        else {
          stopped.add(message.key)
          results.push({ kind: 'refused', error: new Error('it says so') })
        }
      }
      return results
    },
  }
}

function openWith(breakIt: Break, patienceMs: number): () => Promise<TransportCaseContext> {
  return async () => {
    const shared = memoryTransport()
    const connect = async (): Promise<Transport> => breakIt(refusing(shared.connect()), shared)
    return {
      connect,
      connectMortal: async () => {
        const transport = await connect()
        return { transport, die: () => transport.close() }
      },
      refused,
      patienceMs,
      close: async () => {},
    }
  }
}

describe('the cases notice a transport that', () => {
  test.for([...broken, ...brokenOrders])('$name', async ({ caught, break: breakIt, patienceMs = 100 }) => {
    const each = transportCases.find(({ name }) => name === caught)
    if (each === undefined) throw new Error(`There is no case called '${caught}'.`)
    await expect(runTransportCase(each, openWith(breakIt, patienceMs))).rejects.toThrow()
    const sound: Break = (connection) => connection
    await expect(runTransportCase(each, openWith(sound, 10_000))).resolves.toEqual({ kind: 'passed' })
  })

  // A memory transport has no bytes to limit: this is a queue.
  test('pays no heed to maxBytes', async () => {
    const each = transportCases.find(({ needs }) => needs?.includes('byte-limit'))
    if (each === undefined) throw new Error('There is no case about bytes.')
    const open = async (): Promise<TransportCaseContext> => {
      const database = new MemoryDatabase()
      const context = queueContext({ openStore: async () => memoryStore({ database }), remove: async () => {} })
      const heedless = (transport: Transport): Transport => ({
        ...transport,
        deliveries: ({ maxBytes: _, ...given }) => transport.deliveries(given),
      })
      return { ...context, connect: async () => heedless(await context.connect()) }
    }
    await expect(runTransportCase(each, open)).rejects.toThrow('bytes were unsettled')
  })
})
