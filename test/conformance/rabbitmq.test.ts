import { connect } from 'amqplib'
import { describe } from 'vitest'
import type { Transport } from '../../src/contracts/index.ts'
import type { TransportCaseContext } from '../../src/testing/index.ts'
import { type RabbitmqTransportOptions, rabbitmqTransport } from '../../src/transports/rabbitmq/index.ts'
import { declareTopology } from '../../src/transports/rabbitmq/topology.ts'
import { mortalTransport, queueName, withChannel } from '../rabbitmq/connect.ts'
import { requireServer } from '../servers/require.ts'
import { bindTransportCases } from './bind-transport-cases.ts'

const rabbitmq = await requireServer('rabbitmq')

async function open(settings: Omit<RabbitmqTransportOptions, 'queue'>): Promise<TransportCaseContext> {
  const { url } = rabbitmq
  const options = { ...settings, queue: queueName() }
  // Before anyone is there: a quorum queue that two create at once refuses messages until its leader is elected.
  await withChannel(url, (channel) => declareTopology(channel, options))
  const transports: Transport[] = []
  const kept = (transport: Transport): Transport => {
    transports.push(transport)
    return transport
  }
  return {
    refused: { headers: { ['x'.repeat(300)]: 'too long' } },
    connect: async () => kept(rabbitmqTransport({ ...options, connect: () => connect(url) })),
    async connectMortal() {
      const mortal = mortalTransport(url, options)
      kept(mortal.transport)
      return mortal
    },
    async close() {
      for (const transport of transports) await transport.close()
      await withChannel(url, (channel) => channel.deleteQueue(options.queue))
    },
  }
}

describe.skipIf(!rabbitmq.available)('RabbitMQ', () => {
  for (const type of ['quorum', 'classic'] as const) {
    bindTransportCases(`rabbitmq, ${type} queue`, { open: () => open({ declare: { type } }) })
    bindTransportCases(`rabbitmq, ${type} queue, single active consumer`, {
      open: () => open({ declare: { type }, singleActiveConsumer: true }),
    })
  }
})
