import { join } from 'node:path'
import { freePort, localhost } from './address.ts'
import { findBinaries } from './find-binaries.ts'
import { askMysql, createMysqlDatabase, dropMysqlDatabasesOfThisRun } from './mysql-databases.ts'
import { type OwnServer, type ServerSettings, startOwnServer } from './own-server.ts'
import type { Binaries, ServerDefinition } from './server.ts'

export const mariadb: ServerDefinition = {
  name: 'mariadb',
  packages: ['mariadb-server'],
  find: findMariadb,
  start: () => startMariadb(),
  versionAt: askVersion,
  cleanUpAt: dropMysqlDatabasesOfThisRun,
}

export interface MariadbOptions {
  /** More server settings, for example `{ innodb_rollback_on_timeout: 'ON' }`. They win over ours. */
  readonly settings?: ServerSettings
}

export interface MariadbServer extends OwnServer {
  readonly port: number
  /** An own database per test file lets test files run in parallel. Returns its URL. */
  createDatabase(name?: string): Promise<string>
}

export async function startMariadb({ settings }: MariadbOptions = {}): Promise<MariadbServer> {
  const port = await freePort()
  const url = `mysql://root@${localhost}:${port}/mysql`
  const server = await startOwnServer(mariadb, {
    url,
    user: 'mysql',
    endSignal: 'SIGTERM',
    prepare({ path }, binaries) {
      const data = join(path, 'data')
      return {
        setUp: [binaries['mariadb-install-db']!, ...installArgs(data)],
        start: [binaries.mariadbd!, '--no-defaults', ...settingArgs(path, data, port, settings)],
      }
    },
  })
  return { ...server, port, createDatabase: (name) => createMysqlDatabase(url, name) }
}

function installArgs(data: string): string[] {
  return ['--no-defaults', `--datadir=${data}`, '--auth-root-authentication-method=normal', '--skip-test-db']
}

function settingArgs(folder: string, data: string, port: number, more: ServerSettings = {}): string[] {
  const settings = {
    datadir: data,
    tmpdir: folder,
    socket: join(folder, 'mariadb.sock'),
    'pid-file': join(folder, 'mariadb.pid'),
    port,
    'bind-address': localhost,
    max_connections: 300,
    innodb_buffer_pool_size: '64M',
    // Each test makes tables and drops them; a file for each of them is what takes most of the time.
    innodb_file_per_table: 'OFF',
    // The promise of this library rests on these; they are on by default and must never be traded for speed here.
    innodb_flush_log_at_trx_commit: 1,
    innodb_doublewrite: 'ON',
    ...more,
  }
  return ['--skip-name-resolve', ...Object.entries(settings).map(([name, value]) => `--${name}=${value}`)]
}

async function askVersion(url: string): Promise<string> {
  const [row] = await askMysql<{ version: string }>(url, 'SELECT version() AS version')
  return row!.version.split('-')[0]!
}

/** Debian keeps the server in /usr/sbin, which is not on every PATH, and its tool for new folders in /usr/bin. */
function findMariadb(): Binaries | undefined {
  const server = findBinaries(['mariadbd'], ['/usr/sbin'])
  const tool = findBinaries(['mariadb-install-db'], ['/usr/bin'])
  return server && tool && { ...server, ...tool }
}
