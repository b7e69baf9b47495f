import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { OutgoingMessage, Store } from '../../src/contracts/index.ts'
import { countParked } from '../../src/operations/index.ts'
import { createMysqlDatabase } from '../servers/mysql-databases.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { freshTag } from '../servers/redis.ts'
import { type Broker, queueBroker } from './brokers.ts'
import { ConsumerChild } from './consumer-child.ts'
import {
  type ChildEvent,
  type ConsumerConfig,
  type DatabaseAddress,
  messageType,
  type PostgresAddress,
  queueName,
  type RedisAddress,
} from './fixtures/consumer-config.ts'
import { type LedgerRow, openStore } from './fixtures/open-store.ts'
import { judge, type Verdict } from './verdict.ts'

/** `inside`: the queue is in the database of the effects. `separate`: a broker of its own, told after the commit. */
export type Acknowledging = 'inside' | 'separate'

export interface WorldOptions {
  /** Of a Postgres server, or of one of these; SQLite if none is given. */
  readonly postgresUrl?: string | undefined
  readonly postgresLibrary?: PostgresAddress['library']
  readonly mariadbUrl?: string | undefined
  readonly redis?: Pick<RedisAddress, 'url' | 'library'> | undefined
  readonly acknowledging: Acknowledging
  /** Instead of a made-up one; it goes with the world. */
  readonly broker?: Broker
  /** Where the files are; by default in a new folder, which goes with the world. */
  readonly folder?: string | undefined
}

/** What is still to be done, wherever it is. */
export interface Remaining {
  readonly queued: number
  /** Published, and not sent yet. */
  readonly outgoing: number
  readonly parked: number
}

/** A database, a broker and the consumer processes on them. Disposing ends them all and removes the data. */
export interface World extends AsyncDisposable {
  readonly database: DatabaseAddress
  readonly store: Store
  /** To each of the queues, the usual one if none is named. */
  send(ids: readonly string[], queues?: readonly string[]): Promise<void>
  publish(messages: readonly OutgoingMessage[], queue?: string): Promise<void>
  start(config?: Partial<ConsumerConfig>, hear?: (event: ChildEvent) => void): ConsumerChild
  /**
   * Stops a process at a moment when it is not writing to the broker. A made-up broker is a SQLite file, and a process that is
   * frozen in the middle of a write keeps everybody else out of it; that is not what a real broker would do.
   */
  freeze(child: ConsumerChild): Promise<void>
  remaining(): Promise<Remaining>
  /** Resolves when it is so. Fails, with all that was said, when it takes too long. */
  until(fact: () => Promise<boolean>, what: string, patienceMs?: number): Promise<void>
  /** Resolves when nothing is queued, with a consumer or on its way. */
  untilDrained(patienceMs?: number): Promise<void>
  readLedger(): Promise<readonly LedgerRow[]>
  /** What is in the database now, seen from outside. */
  verdict(parts?: readonly number[]): Promise<Verdict>
}

const usualPatienceMs = 90_000

async function newDatabase(
  { postgresUrl, postgresLibrary: library = 'pg', mariadbUrl, redis }: Omit<WorldOptions, 'acknowledging'>,
  folder: string,
): Promise<DatabaseAddress> {
  if (postgresUrl !== undefined) return { kind: 'postgres', url: await createDatabase(postgresUrl), library }
  if (mariadbUrl !== undefined) return { kind: 'mysql', url: await createMysqlDatabase(mariadbUrl) }
  if (redis !== undefined) return { kind: 'redis', hashTag: freshTag(), ...redis }
  return { kind: 'sqlite', path: join(folder, 'app.db') }
}

export async function openWorld(options: WorldOptions): Promise<World> {
  const { acknowledging, broker: real, folder: given, ...servers } = options
  await using opening = new AsyncDisposableStack()
  if (real !== undefined) opening.use(real)
  const folder = given ?? (await mkdtemp(join(tmpdir(), 'justonce-crash-')))
  if (given === undefined) opening.defer(() => rm(folder, { recursive: true, force: true }))
  const database = await newDatabase(servers, folder)
  const opened = await openStore(database)
  opening.defer(() => opened.close().catch(() => {}))
  const { store } = opened
  await store.schema.install()
  await opened.createLedger()

  const file = acknowledging === 'separate' ? join(folder, 'broker.db') : undefined
  const broker = real ?? opening.use(await queueBroker(store, file))
  const { address } = broker
  const children: ConsumerChild[] = []
  opening.defer(async () => void (await Promise.all(children.map((child) => child.kill()))))
  const sent = new Set<string>()

  const remaining = async (): Promise<Remaining> => ({
    parked: await countParked(store),
    outgoing: await outgoingIn(store),
    queued: await broker.left(),
  })
  // In the order in which a message goes on, from the queue to the parked ones, those to be sent and the queue again:
  // whatever moves meanwhile is seen where it has gone.
  const drained = async (): Promise<boolean> => {
    if ((await broker.left()) > 0) return false
    return Object.values(await remaining()).every((count) => count === 0)
  }

  const eventually = async (fact: () => Promise<boolean>, what: string, patienceMs: number): Promise<void> => {
    const deadline = Date.now() + patienceMs
    let refused: unknown
    const isSo = () =>
      fact().catch((error: unknown) => {
        refused = error
        return false
      })
    while (!(await isSo())) {
      if (Date.now() > deadline) {
        const left = JSON.stringify(await remaining().catch(String))
        const stories = children.map((child, index) => `--- process ${index + 1}:\n${child.story()}`)
        const cause = refused === undefined ? undefined : { cause: refused }
        throw new Error(`${what} did not happen within ${patienceMs} ms; left: ${left}.\n${stories.join('\n')}`, cause)
      }
      await pause(15)
    }
  }

  const publish: World['publish'] = async (messages, queue = queueName) => {
    for (const { id } of messages) sent.add(id)
    await broker.publish(messages, queue)
  }

  const owned = opening.move()
  return {
    database,
    store,
    async send(ids, to = [queueName]) {
      for (const queue of to) await publish(ids.map(message), queue)
    },
    publish,
    start(config = {}, hear) {
      const child = new ConsumerChild({ database, ...(address !== undefined && { broker: address }), ...config }, hear)
      children.push(child)
      return child
    },
    remaining,
    async freeze(child) {
      for (;;) {
        child.signal('SIGSTOP')
        await pause(10)
        if (broker.isFree()) return
        child.signal('SIGCONT')
        await pause(1)
      }
    },
    until: (fact, what, patienceMs = usualPatienceMs) => eventually(fact, what, patienceMs),
    untilDrained: (patienceMs = usualPatienceMs) => eventually(drained, 'The queue getting empty', patienceMs),
    readLedger: () => opened.readLedger(),
    verdict: async (parts = [1, 2, 3]) => judge([...sent], parts, await opened.readLedger()),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** In the store's queues of what is to be sent. */
async function outgoingIn({ queue }: Store): Promise<number> {
  let total = 0
  for (const name of (await queue?.queues()) ?? []) {
    if (!name.startsWith('>')) continue
    const { ready = 0, hidden = 0 } = (await queue?.count(name)) ?? {}
    total += ready + hidden
  }
  return total
}

function message(id: string): OutgoingMessage {
  const body = new TextEncoder().encode(JSON.stringify({ id }))
  return { id, type: messageType, body, headers: {}, sentAt: new Date(0) }
}

export function ids(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `m${String(index + 1).padStart(3, '0')}`)
}
