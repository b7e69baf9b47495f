import { join } from 'node:path'
import { freePort, localhost } from './address.ts'
import { findBinaries } from './find-binaries.ts'
import { askMysql, createMysqlDatabase, dropMysqlDatabasesOfThisRun } from './mysql-databases.ts'
import { type Binaries, binariesOf, type RunningServer, type ServerDefinition } from './server.ts'
import { createServerFolder } from './server-folder.ts'
import { runTool, type ServerProcess, startProcess, untilReady } from './server-process.ts'
import { insteadOfRoot } from './system-user.ts'

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
  readonly settings?: Readonly<Record<string, string | number>>
}

export interface MariadbServer extends RunningServer {
  readonly port: number
  readonly folder: string
  /** An own database per test file lets test files run in parallel. Returns its URL. */
  createDatabase(name?: string): Promise<string>
  /** SIGKILL for the server, as in a power cut. The data folder stays. */
  kill9(): Promise<void>
  /** Starts again on the same port and data, after `kill9` or from a running server. */
  restart(): Promise<void>
}

/** Starts a MariaDB of its own. Nothing of it is left after `stop`, or after the end of this process. */
export async function startMariadb(options: MariadbOptions = {}): Promise<MariadbServer> {
  const binaries = binariesOf(mariadb)
  const folder = createServerFolder({ name: 'mariadb', runAs: insteadOfRoot('mysql'), endSignal: 'KILL' })
  const data = join(folder.path, 'data')
  const port = await freePort()
  const url = `mysql://root@${localhost}:${port}/mysql`
  const launch = () =>
    startProcess(folder, binaries.mariadbd!, [
      '--no-defaults',
      ...settingArgs(folder.path, data, port, options.settings),
    ])
  let server: ServerProcess
  let version: string
  try {
    await runTool(folder, binaries['mariadb-install-db']!, installArgs(data))
    server = await launch()
    version = await untilReady(server, () => askVersion(url))
  } catch (error) {
    await folder.remove()
    throw error
  }

  return {
    name: 'mariadb',
    version,
    url,
    port,
    folder: folder.path,
    createDatabase: (name) => createMysqlDatabase(url, name),
    kill9: () => server.kill9(),
    async restart() {
      await server.end('SIGTERM')
      server = await launch()
      await untilReady(server, () => askVersion(url))
    },
    async stop() {
      // The data is thrown away, so there is no reason to wait for a clean shutdown.
      await server.kill9()
      await folder.remove()
    },
  }
}

function installArgs(data: string): string[] {
  return ['--no-defaults', `--datadir=${data}`, '--auth-root-authentication-method=normal', '--skip-test-db']
}

function settingArgs(folder: string, data: string, port: number, more: MariadbOptions['settings'] = {}): string[] {
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
