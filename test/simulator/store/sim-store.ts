import type { LastWrites, Store, TransactionOptions } from '../../../src/contracts/index.ts'
import { JustonceError } from '../../../src/errors/index.ts'
import { SimConnection } from '../database/connection.ts'
import type { SimDatabase } from '../database/sim-database.ts'
import { SimError } from '../database/sim-error.ts'
import {
  begin,
  commit,
  endPart,
  nextPart,
  rollback,
  rollbackTo,
  savepoint,
  undonePart,
} from '../database/statements.ts'
import type { Faults } from '../faults.ts'
import type { SimProcess } from '../process.ts'
import type { Scheduler } from '../scheduler.ts'
import { classify } from './classify.ts'
import { simFacts } from './facts.ts'
import { simInbox } from './inbox.ts'
import { clientOf, lend } from './loan.ts'
import { simParking } from './parking.ts'
import { simPositions } from './positions.ts'
import { simQueue } from './queue.ts'
import { simRetention } from './retention.ts'
import { type SimClient, type SimTx, simClient } from './sim-tx.ts'

export interface SimStoreContext {
  readonly name: string
  readonly prepares: boolean
  readonly messageBytes: number | undefined
  /** Runs one short piece of work on a connection of its own. */
  read<T>(work: (client: SimClient) => Promise<T>): Promise<T>
}

export interface SimStoreParts {
  readonly process: SimProcess
  readonly database: SimDatabase
  readonly network: { readonly scheduler: Scheduler; readonly faults: Faults }
  /** False: to prepare for records costs no call, so that worlds without retention run as they did before it came. */
  readonly prepares?: boolean
  /** The largest message that can be parked. */
  readonly messageBytes?: number
  /** Where connections wait for their next transaction; if not given, each is used for one. */
  readonly pool?: SimConnection[]
  /** Whether the last writes of the next transaction travel with its commit. By default those of every second one do. */
  sharesCommit?(): boolean
}

/** A store over the simulated database, for one process. It keeps the same contract as the real ones. */
export function simStore(parts: SimStoreParts): Store<SimTx> {
  const { process, database, network, prepares = true, messageBytes } = parts
  let closed = false
  let transactions = 0
  const sharesCommit = parts.sharesCommit ?? (() => transactions++ % 2 === 1)
  const connect = (pool?: SimConnection[]) => {
    if (closed) throw new JustonceError('STORE_CLOSED', { message: 'The simulated store is closed.' })
    const idle = pool?.splice(0).filter(({ isLost }) => !isLost) ?? []
    const connection = idle.shift() ?? new SimConnection(process, database, network)
    pool?.push(...idle)
    return simClient(connection)
  }
  const context: SimStoreContext = {
    name: process.name,
    prepares,
    messageBytes,
    async read(work) {
      const client = connect()
      try {
        return await work(client)
      } finally {
        client.connection.discard()
      }
    },
  }
  const store: Store<SimClient> = {
    name: 'simulated',
    guarantee: 'atomic',
    capabilities: { revocable: true, connections: 1_000, interleaves: true },
    transaction: async (work, options) =>
      await transaction(connect(parts.pool), work, options ?? {}, sharesCommit(), parts.pool),
    parts: {
      travels: true,
      async next(client) {
        const open = client.part
        client.part = open + 1
        try {
          await client.connection.call('part', nextPart(open))
        } catch (error) {
          client.part = open
          throw explained(error)
        }
      },
      async undo(client) {
        const open = client.part
        client.part = open + 1
        await client.connection.call('undo', undonePart(open))
      },
    },
    setLockTimeout: (client, lockTimeoutMs = 10_000) =>
      client.connection.call('set-lock-timeout', (session) => {
        session.lockTimeoutMs = lockTimeoutMs
      }),
    lend: lend as Store<SimClient>['lend'],
    within(given) {
      const client = clientOf(given)
      return {
        name: 'simulated',
        guarantee: 'atomic',
        tx: client,
        inbox: store.inbox,
        classify,
        lend: lend as Store<SimClient>['lend'],
        async savepoint(work) {
          await client.connection.call('savepoint', savepoint('joined'))
          try {
            return await work()
          } catch (error) {
            await client.connection.call('undo', rollbackTo('joined'))
            throw error
          }
        },
      }
    },
    inbox: simInbox(context),
    parking: simParking(context),
    facts: simFacts(context),
    retention: simRetention(context),
    positions: simPositions(context),
    queue: simQueue(context),
    schema: { install: async () => {}, check: async () => {}, print: () => '' },
    classify,
    ...(messageBytes !== undefined && { limits: async () => ({ messageBytes }) }),
    ping: () => context.read((client) => client.connection.call('ping', () => {})),
    async close() {
      closed = true
    },
  }
  return store as unknown as Store<SimTx>
}

type Work<T> = (client: SimClient, lastWrites: LastWrites | undefined) => Promise<T>

async function transaction<T>(
  client: SimClient,
  work: Work<T>,
  options: TransactionOptions,
  sharesCommit: boolean,
  pool?: SimConnection[],
): Promise<T> {
  const { connection } = client
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const onAbort = () => {
    connection.discard()
    reject(options.signal?.reason)
  }
  aborted.catch(() => {})
  options.signal?.addEventListener('abort', onAbort)
  if (options.signal?.aborted) onAbort()
  try {
    const value = await Promise.race([runAndCommit(client, work, options, sharesCommit), aborted])
    pool?.push(connection)
    return value
  } finally {
    options.signal?.removeEventListener('abort', onAbort)
    if (!pool?.includes(connection)) connection.discard()
  }
}

async function runAndCommit<T>(
  client: SimClient,
  work: Work<T>,
  { lockTimeoutMs = 10_000, idleTimeoutMs = 60_000 }: TransactionOptions,
  sharesCommit: boolean,
): Promise<T> {
  const { connection } = client
  await connection.call('begin', begin({ lockTimeoutMs, idleTimeoutMs, sealed: true }))
  let value: T
  try {
    value = await work(client, sharesCommit ? client.lastWrites : undefined)
  } catch (error) {
    if (!connection.isLost) await connection.call('rollback', rollback()).catch(() => {})
    throw error
  }
  await end(client)
  return value
}

async function end({ connection, left, part }: SimClient): Promise<void> {
  let outcome: 'committed' | 'rolled-back'
  let done = 0
  try {
    outcome = await connection.call('commit', async (session) => {
      for (; done < left.length; done++) await left[done]?.statement(session)
      endPart(part)(session)
      return await commit(true)(session)
    })
  } catch (error) {
    if (classify(error) === 'unavailable') {
      throw new JustonceError('COMMIT_UNKNOWN', { message: 'The answer to the commit was lost.', cause: error })
    }
    const refused = explained(error)
    await connection.call('rollback', rollback()).catch(() => {})
    const write = refused === error ? left[done] : undefined
    throw write === undefined ? refused : write.blame(error)
  }
  if (outcome === 'rolled-back') {
    throw new JustonceError('COMMIT_ROLLED_BACK', { message: 'The commit was answered with a rollback.' })
  }
}

function explained(error: unknown): unknown {
  if (error instanceof SimError && error.code === 'aborted') {
    return new JustonceError('TX_ABORTED', { message: 'A handler went on after a database error.', cause: error })
  }
  if (error instanceof SimError && error.code === 'no-transaction') {
    return new JustonceError('TX_ENDED', { message: 'The transaction was ended from inside.', cause: error })
  }
  return error
}
