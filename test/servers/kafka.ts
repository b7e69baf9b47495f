import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Admin } from '@platformatic/kafka'
import { freePort, localhost } from './address.ts'
import { findBinaries } from './find-binaries.ts'
import { hasKafkaJars, kafkaJars, kafkaVersion } from './kafka-jars.ts'
import { type OwnServer, type ServerSettings, startOwnServer } from './own-server.ts'
import { type Binaries, binariesOf, type ServerDefinition } from './server.ts'

export const kafka: ServerDefinition = {
  name: 'kafka',
  packages: ['default-jre-headless', 'maven'],
  find: findKafka,
  start: () => startKafka(),
  versionAt: askVersion,
}

export interface KafkaOptions {
  /** More settings of the broker, for example `{ 'message.max.bytes': 1000 }`. They win over ours. */
  readonly settings?: ServerSettings
  /** Makes it a second broker of this cluster. */
  readonly beside?: KafkaServer
}

/** Its URL is `kafka://host:port`. */
export interface KafkaServer extends OwnServer {
  /** As clients want it: `host:port`. */
  readonly address: string
  readonly controller: string
}

const java = ['-Xms64m', '-Xmx320m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1']
const quiet = '-Dorg.slf4j.simpleLogger.defaultLogLevel=error'

/** Broker and controller in one; beside another one only a broker. */
export async function startKafka({ settings, beside }: KafkaOptions = {}): Promise<KafkaServer> {
  const jars = await kafkaJars(binariesOf(kafka).mvn)
  const address = `${localhost}:${await freePort()}`
  const controller = beside?.controller ?? `${localhost}:${await freePort()}`
  const second = { 'process.roles': 'broker', 'node.id': 2, listeners: `PLAINTEXT://${address}` }
  const server = await startOwnServer(kafka, {
    url: `kafka://${address}`,
    endSignal: 'SIGKILL',
    prepare({ path }, binaries) {
      const file = join(path, 'server.properties')
      writeFileSync(file, propertiesOf(path, address, controller, { ...(beside && second), ...settings }))
      const run = [binaries.java!, ...java, quiet, '-cp', `${jars}/*`] as const
      return {
        setUp: [
          ...run,
          'kafka.tools.StorageTool',
          'format',
          '--cluster-id',
          'anVzdG9uY2UtdGVzdC0wMQ',
          '--config',
          file,
        ],
        start: [...run, 'kafka.Kafka', file],
      }
    },
  })
  return { ...server, address, controller }
}

function findKafka(): Binaries | undefined {
  const found = findBinaries(['java'])
  if (found === undefined) return undefined
  const maven = findBinaries(['mvn'])
  return maven === undefined && !hasKafkaJars() ? undefined : { ...found, ...maven }
}

function propertiesOf(folder: string, address: string, controller: string, more: ServerSettings): string {
  const settings = {
    'process.roles': 'broker,controller',
    'node.id': 1,
    'controller.quorum.voters': `1@${controller}`,
    'controller.listener.names': 'CONTROLLER',
    listeners: `PLAINTEXT://${address},CONTROLLER://${controller}`,
    'advertised.listeners': `PLAINTEXT://${address}`,
    'listener.security.protocol.map': 'CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT',
    'log.dirs': join(folder, 'data'),
    'auto.create.topics.enable': 'false',
    'num.partitions': 4,
    'offsets.topic.num.partitions': 4,
    'offsets.topic.replication.factor': 1,
    'transaction.state.log.num.partitions': 4,
    'transaction.state.log.replication.factor': 1,
    'transaction.state.log.min.isr': 1,
    'group.initial.rebalance.delay.ms': 0,
    // So that tests need not wait long for a process that was killed.
    'group.min.session.timeout.ms': 500,
    ...more,
  }
  return Object.entries(settings)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('')
}

/** The broker does not tell its version; that it answers shows that it runs. */
async function askVersion(url: string): Promise<string> {
  const admin = new Admin({ clientId: 'justonce-tests', bootstrapBrokers: [new URL(url).host], retries: 0 })
  try {
    await admin.listTopics()
    return kafkaVersion
  } finally {
    await admin.close()
  }
}
