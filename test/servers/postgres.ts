import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { freePort, localhost } from './address.ts'
import { findBinaries } from './find-binaries.ts'
import { type OwnServer, type ServerSettings, startOwnServer } from './own-server.ts'
import { createDatabase, dropDatabasesOfThisRun, withClient } from './postgres-databases.ts'
import type { Binaries, ServerDefinition } from './server.ts'

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
  readonly settings?: ServerSettings
}

export interface PostgresServer extends OwnServer {
  /** A superuser in the `postgres` database; the same as `url`, named for what it may do. */
  readonly adminUrl: string
  readonly port: number
  /** An own database per test file lets test files run in parallel. Returns its URL. */
  createDatabase(name?: string): Promise<string>
}

export async function startPostgres({ settings }: PostgresOptions = {}): Promise<PostgresServer> {
  const port = await freePort()
  const url = `postgresql://postgres@${localhost}:${port}/postgres`
  const server = await startOwnServer(postgres, {
    url,
    user: 'postgres',
    endSignal: 'SIGINT',
    // Killed, it would leave its shared memory behind; and there is no reason to wait for a checkpoint.
    stopSignal: 'SIGQUIT',
    // A backend that was still dying holds the old shared memory, and Postgres rightly refuses to start beside it.
    refusesWith: 'pre-existing shared memory',
    prepare(folder, binaries) {
      const data = join(folder.path, 'data')
      return {
        setUp: [binaries.initdb!, ...initdbArgs(data)],
        start: [binaries.postgres!, '-D', data, ...settingArgs(port, settings)],
      }
    },
  })
  return { ...server, adminUrl: url, port, createDatabase: (name) => createDatabase(url, name) }
}

function initdbArgs(data: string): string[] {
  // No sync here: it would protect an empty database from a power cut of the real machine.
  return ['-D', data, '-U', 'postgres', '--auth=trust', '--encoding=UTF8', '--no-locale', '--no-sync']
}

export function settingArgs(port: number, more: ServerSettings = {}): string[] {
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
    ['postgres', 'initdb', 'pg_basebackup'],
    newestFirst.map((version) => join(debianVersions, version, 'bin')),
  )
}
