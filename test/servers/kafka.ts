import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Admin } from '@platformatic/kafka'
import { freePort, localhost } from './address.ts'
import { findBinaries } from './find-binaries.ts'
import { hasKafkaJars, kafkaJars, kafkaVersion } from './kafka-jars.ts'
import { type Binaries, binariesOf, type RunningServer, type ServerDefinition } from './server.ts'
import { createServerFolder } from './server-folder.ts'
import { runTool, type ServerProcess, startProcess, untilReady } from './server-process.ts'

export const kafka: ServerDefinition = {
  name: 'kafka',
  packages: ['default-jre-headless', 'maven'],
  find: findKafka,
  start: () => startKafka(),
  versionAt: askVersion,
}

export interface KafkaOptions {
  /** More settings of the broker, for example `{ 'message.max.bytes': 1000 }`. They win over ours. */
  readonly settings?: Readonly<Record<string, string | number>>
}

/** Its URL is `kafka://host:port`. */
export interface KafkaServer extends RunningServer {
  /** As clients want it: `host:port`. */
  readonly address: string
  /** SIGKILL, as in a crash. The data folder stays. */
  kill9(): Promise<void>
  /** Starts again on the same port and data, after `kill9` or from a running server. */
  restart(): Promise<void>
}

const java = ['-Xms64m', '-Xmx320m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1']
const quiet = '-Dorg.slf4j.simpleLogger.defaultLogLevel=error'

/** Starts a Kafka of its own, broker and controller in one. Nothing of it is left after `stop`, or when this process ends. */
export async function startKafka(options: KafkaOptions = {}): Promise<KafkaServer> {
  const binaries = binariesOf(kafka)
  const jars = await kafkaJars(binaries.mvn)
  const folder = createServerFolder({ name: 'kafka', runAs: {}, endSignal: 'KILL' })
  const [port, controllerPort] = [await freePort(), await freePort()]
  const address = `${localhost}:${port}`
  const url = `kafka://${address}`
  const settings = join(folder.path, 'server.properties')
  writeFileSync(settings, propertiesOf(folder.path, address, controllerPort, options.settings))
  const command = (main: string, ...args: string[]) => [...java, quiet, '-cp', `${jars}/*`, main, ...args]
  const launch = (): Promise<ServerProcess> => startProcess(folder, binaries.java!, command('kafka.Kafka', settings))
  let server: ServerProcess
  let version: string
  try {
    const format = ['format', '--cluster-id', 'anVzdG9uY2UtdGVzdC0wMQ', '--config', settings]
    await runTool(folder, binaries.java!, command('kafka.tools.StorageTool', ...format))
    server = await launch()
    version = await untilReady(server, () => askVersion(url))
  } catch (error) {
    await folder.remove()
    throw error
  }
  return {
    name: 'kafka',
    version,
    url,
    address,
    kill9: () => server.kill9(),
    async restart() {
      await server.end('SIGKILL')
      server = await launch()
      await untilReady(server, () => askVersion(url))
    },
    async stop() {
      await server.end('SIGKILL')
      await folder.remove()
    },
  }
}

function findKafka(): Binaries | undefined {
  const found = findBinaries(['java'])
  if (found === undefined) return undefined
  const maven = findBinaries(['mvn'])
  return maven === undefined && !hasKafkaJars() ? undefined : { ...found, ...maven }
}

function propertiesOf(
  folder: string,
  address: string,
  controllerPort: number,
  more: KafkaOptions['settings'] = {},
): string {
  const controller = `${localhost}:${controllerPort}`
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
