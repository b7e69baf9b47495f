import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createClient } from 'redis'
import { freePort, localhost } from './address.ts'
import { findBinaries } from './find-binaries.ts'
import { binariesOf, type RunningServer, type ServerDefinition } from './server.ts'
import { createServerFolder, type ServerFolder } from './server-folder.ts'
import { type ServerProcess, startProcess, untilReady } from './server-process.ts'
import { giveTo, insteadOfRoot } from './system-user.ts'

export const redis: ServerDefinition = {
  name: 'redis',
  packages: ['redis-server'],
  find: () => findBinaries(['redis-server']),
  start: () => startRedis(),
  versionAt: askVersion,
  cleanUpAt: deleteKeysOfThisRun,
}

export interface RedisOptions {
  /** More server settings, for example `{ appendonly: 'no' }`. They win over ours. */
  readonly settings?: Readonly<Record<string, string | number>>
}

export interface RedisServer extends RunningServer {
  readonly port: number
  /** SIGKILL, as in a crash. The data folder stays. */
  kill9(): Promise<void>
  /** Starts again on the same port and data, after `kill9` or from a running server. */
  restart(): Promise<void>
  /** Stops answering without closing anything, as a hanging machine does. */
  freeze(): void
  thaw(): void
}

/** Starts a Redis of its own. Nothing of it is left after `stop`, or after the end of this process. */
export async function startRedis(options: RedisOptions = {}): Promise<RedisServer> {
  const binaries = binariesOf(redis)
  const runAs = insteadOfRoot('redis')
  const folder = createServerFolder({ name: 'redis', runAs, endSignal: 'KILL' })
  const port = await freePort()
  const url = `redis://${localhost}:${port}`
  const data = dataFolder(folder)
  const launch = (): Promise<ServerProcess> =>
    startProcess(folder, binaries['redis-server']!, settingArgs(port, data, options.settings))
  let server: ServerProcess
  let version: string
  try {
    server = await launch()
    version = await untilReady(server, () => askVersion(url))
  } catch (error) {
    await folder.remove()
    throw error
  }
  return {
    name: 'redis',
    version,
    url,
    port,
    kill9: () => server.kill9(),
    async restart() {
      await server.end('SIGTERM')
      server = await launch()
      await untilReady(server, () => askVersion(url))
    },
    freeze: () => void process.kill(server.pid, 'SIGSTOP'),
    thaw: () => void process.kill(server.pid, 'SIGCONT'),
    async stop() {
      await server.end('SIGKILL')
      await folder.remove()
    },
  }
}

function dataFolder(folder: ServerFolder): string {
  const path = join(folder.path, 'data')
  mkdirSync(path)
  giveTo(folder.runAs, path)
  return path
}

function settingArgs(port: number, dir: string, more: RedisOptions['settings'] = {}): string[] {
  const settings = {
    port,
    bind: localhost,
    dir,
    save: '',
    appendonly: 'yes',
    appendfsync: 'everysec',
    'maxmemory-policy': 'noeviction',
    ...more,
  }
  return Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)])
}

/** A hash tag of its own for each test lets test files share a server, and be cleaned up after. */
export function freshTag(): string {
  return `${tagOfThisRun()}${randomBytes(6).toString('hex')}`
}

function tagOfThisRun(): string {
  return `justonce-test-${process.env.JUSTONCE_TEST_RUN ?? process.pid}-`
}

async function deleteKeysOfThisRun(url: string): Promise<void> {
  await withRedis(url, async (client) => {
    for await (const keys of client.scanIterator({ MATCH: `*${tagOfThisRun()}*`, COUNT: 1_000 }))
      if (keys.length > 0) await client.unlink(keys)
  })
}

/** Connects, runs one task and always disconnects. */
export async function withRedis<T>(
  url: string,
  task: (client: ReturnType<typeof redisClient>) => Promise<T>,
): Promise<T> {
  const client = redisClient(url)
  try {
    await client.connect()
    return await task(client)
  } finally {
    client.destroy()
  }
}

/** Not connected yet. */
export function redisClient(url: string) {
  const client = createClient({ url, socket: { reconnectStrategy: (tries) => Math.min(tries * 20, 200) } })
  // A killed server reports itself here too; whoever waits for an answer sees the same failure as a rejection.
  client.on('error', () => {})
  return client
}

async function askVersion(url: string): Promise<string> {
  const client = createClient({ url, socket: { reconnectStrategy: false, connectTimeout: 5_000 } })
  client.on('error', () => {})
  try {
    await client.connect()
    const info = await client.info('server')
    return /redis_version:(\S+)/.exec(info)?.[1] ?? 'unknown'
  } finally {
    if (client.isOpen) client.destroy()
  }
}
