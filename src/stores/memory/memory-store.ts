import type { Parts, Positions, Queue, Retention, Store } from '../../contracts/index.ts'
import { JustonceError } from '../../errors/index.ts'
import { classify } from './classify.ts'
import { memoryFacts } from './facts.ts'
import { memoryInbox } from './inbox.ts'
import { MemoryDatabase, type MemoryDatabaseOptions } from './memory-database.ts'
import type { MemoryTx } from './memory-tx.ts'
import { memoryParking } from './parking.ts'
import { memoryPositions } from './positions.ts'
import { memoryQueue } from './queue.ts'
import { memoryRetention } from './retention.ts'
import { lend, Transactions } from './transactions.ts'
import { joinedStore, memoryParts } from './within.ts'

/** A store in the memory of the process, for tests. It can do everything a store can do. */
export interface MemoryStore extends Store<MemoryTx> {
  readonly parts: Parts<MemoryTx>
  readonly queue: Queue<MemoryTx>
  readonly retention: Retention
  readonly positions: Positions<MemoryTx>
}

/** What `memoryStore()` takes. */
export type MemoryStoreOptions =
  | (MemoryDatabaseOptions & { readonly database?: undefined })
  /** Shares the data of other stores, as another process would. */
  | { readonly database: MemoryDatabase }

const known = ['clock', 'busyTimeoutMs', 'database']

/**
 * A store for tests and examples. Its transactions are real, but its data is in memory and gone with the process.
 *
 * @example
 * const store = memoryStore()
 * const database = new MemoryDatabase()
 * const [one, another] = [memoryStore({ database }), memoryStore({ database })]
 */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  const unknown = Object.keys(options).find((name) => !known.includes(name))
  if (unknown !== undefined)
    throw new JustonceError('OPTION_UNKNOWN', { message: `memoryStore() has no option '${unknown}'.` })
  if (options.database !== undefined && Object.keys(options).length > 1)
    throw new JustonceError('OPTION_INVALID', { message: 'clock and busyTimeoutMs belong to new MemoryDatabase().' })
  const transactions = new Transactions(options.database ?? new MemoryDatabase(options))
  const inbox = memoryInbox(transactions)
  return {
    name: 'memory',
    guarantee: 'atomic',
    capabilities: { revocable: true, connections: 1, interleaves: true },
    transaction: (work, options) => transactions.run(work, options),
    parts: memoryParts(),
    lend,
    within: (tx) => joinedStore(tx, inbox),
    inbox: {
      ...inbox,
      size: () => transactions.read((database) => ({ rows: database.inbox.values().length, bytes: undefined })),
    },
    parking: memoryParking(transactions),
    facts: memoryFacts(transactions),
    retention: memoryRetention(transactions),
    queue: memoryQueue(transactions),
    positions: memoryPositions(transactions),
    schema: { install: async () => {}, check: async () => {}, print: () => '-- The memory store has no tables.\n' },
    classify,
    ping: () => transactions.read(() => {}),
    close: () => transactions.close(),
  }
}
