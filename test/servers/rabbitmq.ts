import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from 'amqplib'
import { freePort, localhost } from './address.ts'
import { findBinaries } from './find-binaries.ts'
import { type OwnServer, type ServerSettings, startOwnServer } from './own-server.ts'
import type { ServerDefinition } from './server.ts'
import type { ServerFolder } from './server-folder.ts'

export const rabbitmq: ServerDefinition = {
  name: 'rabbitmq',
  packages: ['rabbitmq-server'],
  // The script of that name in PATH insists on the folders of the package; this one does not.
  find: () => findBinaries(['rabbitmq-server'], ['/usr/lib/rabbitmq/bin']),
  start: () => startRabbitmq(),
  versionAt: askVersion,
}

export interface RabbitmqOptions {
  /** More lines of rabbitmq.conf, for example `{ consumer_timeout: 5_000 }`. They win over ours. */
  readonly settings?: ServerSettings
  /** More arguments of the Erlang machine, for what has no line there. */
  readonly erlang?: string
}

export interface RabbitmqServer extends OwnServer {
  readonly port: number
}

export async function startRabbitmq({ settings, erlang }: RabbitmqOptions = {}): Promise<RabbitmqServer> {
  const ports = { amqp: await freePort(), names: await freePort(), nodes: await freePort() }
  const server = await startOwnServer(rabbitmq, {
    url: `amqp://guest:guest@${localhost}:${ports.amqp}`,
    user: 'rabbitmq',
    endSignal: 'SIGTERM',
    prepare(folder, binaries) {
      const environment = prepareFolder(folder, ports, settings, erlang)
      const shell = ['sh', '-c', withOwnNameServer, 'rabbitmq', binaries['rabbitmq-server']!]
      return { start: ['/usr/bin/env', ...environment, ...shell] }
    },
  })
  return { ...server, port: ports.amqp }
}

/**
 * Erlang would start its name server as a daemon that outlives everyone. One that is there already, on a port of its
 * own, is used instead, and it ends with the tree of this process.
 */
const withOwnNameServer = `
epmd &
names=$!
until epmd -names >/dev/null 2>&1; do sleep 0.02; done
"$1" &
server=$!
trap 'kill -TERM $server' TERM
while kill -0 $server 2>/dev/null; do wait $server; done
kill $names
`

interface Ports {
  readonly amqp: number
  readonly names: number
  readonly nodes: number
}

/** The environment as arguments of `env`: every place that RabbitMQ would share with another one is inside the folder. */
function prepareFolder(folder: ServerFolder, ports: Ports, more: ServerSettings = {}, erlang = ''): string[] {
  const inFolder = (name: string): string => join(folder.path, name)
  const settings = { 'listeners.tcp.1': `${localhost}:${ports.amqp}`, 'disk_free_limit.absolute': '1MB', ...more }
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}\n`)
  writeFileSync(inFolder('rabbitmq.conf'), lines.join(''))
  writeFileSync(inFolder('enabled_plugins'), '[].\n')
  writeFileSync(inFolder('rabbitmq-env.conf'), '')
  const environment = {
    HOME: folder.make('home'),
    ERL_EPMD_PORT: ports.names,
    ERL_EPMD_ADDRESS: localhost,
    RABBITMQ_NODENAME: `justonce-${ports.amqp}@localhost`,
    RABBITMQ_DIST_PORT: ports.nodes,
    RABBITMQ_CONF_ENV_FILE: inFolder('rabbitmq-env.conf'),
    RABBITMQ_CONFIG_FILE: inFolder('rabbitmq.conf'),
    RABBITMQ_ENABLED_PLUGINS_FILE: inFolder('enabled_plugins'),
    RABBITMQ_MNESIA_BASE: folder.make('mnesia'),
    RABBITMQ_PID_FILE: inFolder('rabbitmq.pid'),
    RABBITMQ_LOGS: '-',
    // Idle schedulers that spin would take the processor from the tests.
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: `+sbwt none +sbwtdcpu none +sbwtdio none +S 2:2 ${erlang}`,
  }
  return Object.entries(environment).map(([name, value]) => `${name}=${value}`)
}

async function askVersion(url: string): Promise<string> {
  const connection = await connect(url, { timeout: 5_000 })
  connection.on('error', () => {})
  try {
    return String(connection.connection.serverProperties.version)
  } finally {
    await connection.close()
  }
}
