import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { vi } from 'vitest'
import type { OutgoingMessage } from '../../src/contracts/index.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { queueTransport } from '../../src/transports/queue/index.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { ConsumerChild } from './consumer-child.ts'
import { type ConsumerConfig, type DatabaseAddress, messageType, queueName } from './fixtures/consumer-config.ts'
import { openStore, type QueueStore } from './fixtures/open-store.ts'
import { judge, type Verdict } from './verdict.ts'

/** `inside`: the queue is in the database of the effects. `separate`: a broker of its own, told after the commit. */
export type Acknowledging = 'inside' | 'separate'

export interface WorldOptions {
  /** Of a Postgres server; SQLite if not given. */
  readonly postgresUrl?: string | undefined
  readonly acknowledging: Acknowledging
}

/** A database, a broker and the consumer processes on them. Disposing ends them all and removes the data. */
export interface World extends AsyncDisposable {
  readonly database: DatabaseAddress
  readonly store: QueueStore
  /** To each of the queues, the usual one if none is named. */
  send(ids: readonly string[], queues?: readonly string[]): Promise<void>
  start(config?: Partial<ConsumerConfig>): ConsumerChild
  /** Resolves when nothing is queued, with a consumer or on its way. */
  untilDrained(): Promise<void>
  /** What is in the database now, seen from outside. */
  verdict(parts?: readonly number[]): Promise<Verdict>
}

const patienceMs = 20_000
// Each wait has its own bound and says what it waited for; the bound of the whole test says nothing.
vi.setConfig({ testTimeout: 120_000 })

export async function openWorld({ postgresUrl, acknowledging }: WorldOptions): Promise<World> {
  await using opening = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'justonce-crash-'))
  opening.defer(() => rm(folder, { recursive: true, force: true }))
  const database: DatabaseAddress =
    postgresUrl === undefined
      ? { kind: 'sqlite', path: join(folder, 'app.db') }
      : { kind: 'postgres', url: await createDatabase(postgresUrl) }
  const opened = await openStore(database)
  opening.defer(() => opened.close().catch(() => {}))
  const { store } = opened
  await store.schema.install()
  await opened.createLedger()

  const broker = acknowledging === 'separate' ? join(folder, 'broker.db') : undefined
  const brokerStore = broker === undefined ? store : (sqliteStore({ path: broker }) as unknown as QueueStore)
  if (brokerStore !== store) {
    opening.defer(() => brokerStore.close())
    await brokerStore.schema.install()
  }
  const children: ConsumerChild[] = []
  opening.defer(async () => void (await Promise.all(children.map((child) => child.kill()))))
  const sent = new Set<string>()
  const queues = new Set([queueName])

  const queued = async (): Promise<number> => {
    let total = 0
    for (const name of queues) {
      const { ready, hidden } = await brokerStore.queue.count(name)
      total += ready + hidden
    }
    return total
  }
  // A follow-up is in the outbox until it is in the queue: what was seen empty twice, with the other in between, is.
  const drained = async (): Promise<boolean> =>
    (await queued()) === 0 &&
    ((await store.outbox?.count())?.pending ?? 0) === 0 &&
    (await store.parking.count()) === 0 &&
    (await queued()) === 0

  const eventually = async (fact: () => Promise<boolean>, what: string): Promise<void> => {
    const deadline = Date.now() + patienceMs
    while (!(await fact().catch(() => false))) {
      if (Date.now() > deadline) {
        const stories = children.map((child, index) => `--- process ${index + 1}:\n${child.story()}`)
        throw new Error(`${what} did not happen within ${patienceMs} ms.\n${stories.join('\n')}`)
      }
      await pause(15)
    }
  }

  const owned = opening.move()
  return {
    database,
    store,
    async send(ids, to = [queueName]) {
      for (const id of ids) sent.add(id)
      for (const queue of to) {
        queues.add(queue)
        const transport = queueTransport({ store: brokerStore, queue })
        await transport.publish(ids.map(message))
        await transport.close()
      }
    },
    start(config = {}) {
      const child = new ConsumerChild({ database, ...(broker === undefined ? {} : { broker }), ...config })
      children.push(child)
      return child
    },
    untilDrained: () => eventually(drained, 'The queue getting empty'),
    verdict: async (parts = [1, 2, 3]) => judge([...sent], parts, await opened.readLedger()),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

function message(id: string): OutgoingMessage {
  const body = new TextEncoder().encode(JSON.stringify({ id }))
  return { id, type: messageType, body, headers: {}, sentAt: new Date(0) }
}

export function ids(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `m${String(index + 1).padStart(3, '0')}`)
}
