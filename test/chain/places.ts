import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Admin } from '@platformatic/kafka'
import { withChannel } from '../rabbitmq/connect.ts'
import type { ServerName } from '../servers/definitions.ts'
import { startKafka } from '../servers/kafka.ts'
import type { OwnServer } from '../servers/own-server.ts'
import { startPostgres } from '../servers/postgres.ts'
import { copyDatabase, createDatabase } from '../servers/postgres-databases.ts'
import { startRabbitmq } from '../servers/rabbitmq.ts'
import { type Database, inputOf, type Role, type Way } from './config.ts'

export type PlaceName = 'sqlite queue' | 'postgres and rabbitmq' | 'postgres and kafka'

/** Where a chain runs, with servers of its own, which may be killed. */
export interface Place {
  readonly databases: Readonly<Record<Role, Database>>
  readonly way: Way
  readonly servers: readonly OwnServer[]
  /** Keeps a copy of the database of B, as a backup does. Whoever uses it is cut off for a moment. */
  backUp?(): Promise<void>
  /** Puts the copy in its place. */
  restore?(): Promise<void>
  close(): Promise<void>
}

export const places: Readonly<Record<PlaceName, { readonly needs: readonly ServerName[]; open(): Promise<Place> }>> = {
  'sqlite queue': { needs: [], open: openSqlite },
  'postgres and rabbitmq': { needs: ['postgres', 'rabbitmq'], open: openRabbitmq },
  'postgres and kafka': { needs: ['postgres', 'kafka'], open: openKafka },
}

/** Both services on one database. */
async function openSqlite(): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), 'justonce-chain-'))
  const database = { kind: 'sqlite', path: join(folder, 'chain.db') } as const
  return {
    databases: { b: database, c: database },
    way: { kind: 'queue' },
    servers: [],
    close: () => rm(folder, { recursive: true, force: true }),
  }
}

async function openRabbitmq(): Promise<Place> {
  const server = await startRabbitmq()
  await withChannel(server.url, async (channel) => {
    for (const queue of Object.values(inputOf))
      await channel.assertQueue(queue, { durable: true, arguments: { 'x-queue-type': 'quorum' } })
  })
  // A broker writes down a few seconds late who leads a new queue, or when it ends in good order: killed before that, the queue has no leader for ever.
  await server.restart()
  return await openWith(server, (url) => ({ kind: 'rabbitmq', url }))
}

async function openKafka(): Promise<Place> {
  const server = await startKafka()
  const servers = new URL(server.url).host
  const admin = new Admin({ clientId: 'chain', bootstrapBrokers: [servers] })
  await admin.createTopics({ topics: Object.values(inputOf), partitions: 2, replicas: 1 })
  await admin.close()
  return await openWith(server, () => ({ kind: 'kafka', servers }))
}

/** Each service has a database of its own. */
async function openWith(broker: OwnServer, wayAt: (url: string) => Way): Promise<Place> {
  const server = await startPostgres()
  const database = async (name: string) => ({ kind: 'postgres', url: await createDatabase(server.url, name) }) as const
  return {
    databases: { b: await database('chain_b'), c: await database('chain_c') },
    way: wayAt(broker.url),
    servers: [server, broker],
    backUp: () => copyDatabase(server.url, { from: 'chain_b', to: 'chain_b_kept' }),
    restore: () => copyDatabase(server.url, { from: 'chain_b_kept', to: 'chain_b' }),
    async close() {
      await Promise.all([server.stop(), broker.stop()])
    },
  }
}
