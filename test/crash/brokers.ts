import { DatabaseSync } from 'node:sqlite'
import type { OutgoingMessage, Store } from '../../src/contracts/index.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { queueTransport } from '../../src/transports/queue/index.ts'
import { type BrokerAddress, queueName } from './fixtures/consumer-config.ts'
import { havingQueue } from './fixtures/open-store.ts'

/** Where the messages of a world wait. */
export interface Broker extends AsyncDisposable {
  /** As consumers get it; undefined: it is in their database. */
  readonly address: BrokerAddress | undefined
  publish(messages: readonly OutgoingMessage[], queue: string): Promise<void>
  /** How many are not acknowledged. */
  left(): Promise<number>
  /** False while somebody keeps everybody else from it. */
  isFree(): boolean
}

/** The queue of the store, or of a SQLite file that stands for a broker of its own. */
export async function queueBroker(store: Store, path: string | undefined): Promise<Broker> {
  const brokerStore = havingQueue(path === undefined ? store : (sqliteStore({ path }) as Store))
  if (path !== undefined) await brokerStore.schema.install()
  const queues = new Set([queueName])
  return {
    address: path,
    async publish(messages, queue) {
      queues.add(queue)
      const transport = queueTransport({ store: brokerStore, queue })
      await transport.publish(messages)
      await transport.close()
    },
    async left() {
      let total = 0
      for (const name of queues) {
        const { ready, hidden } = await brokerStore.queue.count(name)
        total += ready + hidden
      }
      return total
    },
    isFree: () => path === undefined || isWritable(path),
    async [Symbol.asyncDispose]() {
      if (path !== undefined) await brokerStore.close()
    },
  }
}

function isWritable(path: string): boolean {
  const database = new DatabaseSync(path, { timeout: 0 })
  try {
    database.exec('BEGIN IMMEDIATE; ROLLBACK')
    return true
  } catch {
    return false
  } finally {
    database.close()
  }
}
