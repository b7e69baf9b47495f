import type { RunningServer, ServerDefinition } from '../test/servers/server.ts'
import type { BrokerPlace } from './broker.ts'

export const brokerNames = { rabbitmq: 'RabbitMQ', kafka: 'Kafka' } as const

export type BrokerName = keyof typeof brokerNames

/** The server that was asked for is not installed; the message says how to get it. */
export class BrokerMissing extends Error {}

export interface BrokerServer {
  /** Both sides share the server, each with a queue or topic of its own. */
  placeOf(side: string): BrokerPlace
  stop(): Promise<void>
}

/** Something that starts the broker, once it is known to be installed. */
export async function findBrokerServer(name: BrokerName): Promise<() => Promise<BrokerServer>> {
  const definition = await definitionOf(name)
  if (definition.find() === undefined) throw new BrokerMissing(howToGet(name, definition))
  return async () => {
    const server = await definition.start({})
    return { placeOf: (side) => placeAt(name, server, `payments-${side}`), stop: () => server.stop() }
  }
}

async function definitionOf(name: BrokerName): Promise<ServerDefinition> {
  if (name === 'rabbitmq') return (await import('../test/servers/rabbitmq.ts')).rabbitmq
  return (await import('../test/servers/kafka.ts')).kafka
}

function howToGet(name: BrokerName, { packages }: ServerDefinition): string {
  const command = `apt-get install ${packages.join(' ')}`
  const comment = name === 'kafka' ? ' (Java and Maven, which brings Kafka itself at the first run)' : ''
  return `${brokerNames[name]} is not installed; on Debian and Ubuntu it comes with: ${command}${comment}.`
}

function placeAt(name: BrokerName, { url }: RunningServer, line: string): BrokerPlace {
  return name === 'rabbitmq'
    ? { kind: 'rabbitmq', url, queue: line }
    : { kind: 'kafka', address: new URL(url).host, topic: line }
}
