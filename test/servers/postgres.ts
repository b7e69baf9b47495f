import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort, localhost } from './address.ts'
import { findBinaries } from './find-binaries.ts'
import { createDatabase, dropDatabasesOfThisRun, withClient } from './postgres-databases.ts'
import { type Binaries, binariesOf, type RunningServer, type ServerDefinition } from './server.ts'
import { createServerFolder } from './server-folder.ts'
import { runTool, type ServerProcess, startProcess, untilReady } from './server-process.ts'
import { insteadOfRoot } from './system-user.ts'

const debianVersions = '/usr/lib/postgresql'

export const postgres: ServerDefinition = {
  name: 'postgres',
  packages: ['postgresql'],
  whileInstalling: { '/etc/postgresql-common/createcluster.d/justonce.conf': 'create_main_cluster = false' },
  find: findPostgres,
  start: () => startPostgres(),
  versionAt: askVersion,
  cleanUpAt: dropDatabasesOfThisRun,
}

export interface PostgresOptions {
  /** More server settings, for example `{ idle_in_transaction_session_timeout: '1s' }`. They win over ours. */
  readonly settings?: Readonly<Record<string, string | number>>
}

export interface PostgresServer extends RunningServer {
  /** A superuser in the `postgres` database; the same as `url`, named for what it may do. */
  readonly adminUrl: string
  readonly port: number
  readonly folder: string
  /** An own database per test file lets test files run in parallel. Returns its URL. */
  createDatabase(name?: string): Promise<string>
  /** SIGKILL for the server and every backend at once, as in a power cut. The data folder stays. */
  kill9(): Promise<void>
  /** Starts again on the same port and data, after `kill9` or from a running server. */
  restart(): Promise<void>
}

/** Starts a Postgres of its own. Nothing of it is left after `stop`, or after the end of this process. */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const binaries = binariesOf(postgres)
  const folder = createServerFolder({ name: 'postgres', runAs: insteadOfRoot('postgres'), endSignal: 'QUIT' })
  const data = join(folder.path, 'data')
  const port = await freePort()
  const url = `postgresql://postgres@${localhost}:${port}/postgres`
  const launch = () => startProcess(folder, binaries.postgres!, ['-D', data, ...settingArgs(port, options.settings)])
  let server: ServerProcess
  let version: string
  try {
    await runTool(folder, binaries.initdb!, initdbArgs(data))
    server = await launch()
    version = await untilReady(server, () => askVersion(url))
  } catch (error) {
    await folder.remove()
    throw error
  }

  return {
    name: 'postgres',
    version,
    url,
    adminUrl: url,
    port,
    folder: folder.path,
    createDatabase: (name) => createDatabase(url, name),
    kill9: () => server.kill9(),
    async restart() {
      await server.end('SIGINT')
      server = await launchOnOldData(launch, () => askVersion(url))
    },
    async stop() {
      // The data is thrown away, so there is no reason to wait for a checkpoint.
      await server.end('SIGQUIT')
      await folder.remove()
    },
  }
}

/** A backend that was still dying holds the old shared memory, and Postgres rightly refuses to start beside it. */
async function launchOnOldData(launch: () => Promise<ServerProcess>, ask: () => Promise<unknown>) {
  for (let triesLeft = 50; ; triesLeft--) {
    const server = await launch()
    try {
      await untilReady(server, ask)
      return server
    } catch (error) {
      const isStillHeld = server.hasEnded() && server.log().slice(-2_000).includes('pre-existing shared memory')
      if (!isStillHeld || triesLeft === 0) throw error
    }
    await delay(100)
  }
}

function initdbArgs(data: string): string[] {
  // No sync here: it would protect an empty database from a power cut of the real machine.
  return ['-D', data, '-U', 'postgres', '--auth=trust', '--encoding=UTF8', '--no-locale', '--no-sync']
}

function settingArgs(port: number, more: PostgresOptions['settings'] = {}): string[] {
  const settings = {
    port,
    listen_addresses: localhost,
    unix_socket_directories: '',
    max_connections: 200,
    max_prepared_transactions: 10,
    // The promise of this library rests on these; they are on by default and must never be traded for speed here.
    fsync: 'on',
    synchronous_commit: 'on',
    full_page_writes: 'on',
    ...more,
  }
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}

function askVersion(url: string): Promise<string> {
  return withClient(url, async (client) => {
    const { rows } = await client.query<{ server_version: string }>('SHOW server_version')
    return rows[0]!.server_version.split(' ')[0]!
  })
}

/** Debian keeps each version in a folder of its own, outside PATH; the newest one wins. */
function findPostgres(): Binaries | undefined {
  const versions = existsSync(debianVersions) ? readdirSync(debianVersions) : []
  const newestFirst = versions.sort((a, b) => Number(b) - Number(a))
  return findBinaries(
    ['postgres', 'initdb'],
    newestFirst.map((version) => join(debianVersions, version, 'bin')),
  )
}
