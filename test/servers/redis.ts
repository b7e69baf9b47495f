import { randomBytes } from 'node:crypto'
import { createClient } from 'redis'
import { freePort, localhost } from './address.ts'
import { findBinaries } from './find-binaries.ts'
import { type OwnServer, type ServerSettings, startOwnServer } from './own-server.ts'
import type { ServerDefinition } from './server.ts'

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
  readonly settings?: ServerSettings
}

export interface RedisServer extends OwnServer {
  readonly port: number
  /** Stops answering without closing anything, as a hanging machine does. */
  freeze(): void
  thaw(): void
}

export async function startRedis({ settings }: RedisOptions = {}): Promise<RedisServer> {
  const port = await freePort()
  const server = await startOwnServer(redis, {
    url: `redis://${localhost}:${port}`,
    user: 'redis',
    endSignal: 'SIGTERM',
    prepare: (folder, binaries) => ({
      start: [binaries['redis-server']!, ...settingArgs(port, folder.make('data'), settings)],
    }),
  })
  return { ...server, port, freeze: () => server.signal('SIGSTOP'), thaw: () => server.signal('SIGCONT') }
}

function settingArgs(port: number, dir: string, more: ServerSettings = {}): string[] {
  const settings = {
    port,
    bind: localhost,
    dir,
    save: '',
    appendonly: 'yes',
    appendfsync: 'everysec',
    'maxmemory-policy': 'noeviction',
    // So that tests can send what is too large.
    'proto-max-bulk-len': '4mb',
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

export interface RedisClientSettings {
  /** Rejects what is sent while there is no connection. */
  readonly disableOfflineQueue?: boolean
}

/** Not connected yet. */
export function redisClient(url: string, settings: RedisClientSettings = {}) {
  const client = createClient({ ...settings, url, socket: { reconnectStrategy: (tries) => Math.min(tries * 20, 200) } })
  // A killed server reports itself here too; a caller that waits for an answer sees the same failure as a rejection.
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
