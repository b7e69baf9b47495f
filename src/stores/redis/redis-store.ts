import type { Parts, Queue, Store } from '../../contracts/index.ts'
import { CommandTable } from './command-table.ts'
import { Connection } from './connection.ts'
import { classify } from './errors.ts'
import { redisFacts } from './facts.ts'
import { redisInbox } from './inbox.ts'
import { largestMessage } from './message-limit.ts'
import { keyPrefix } from './names.ts'
import { type CheckedOptions, checkedOptions, type IsolatedRedisOptions, type LeaseRedisOptions } from './options.ts'
import { redisParking } from './parking.ts'
import { redisQueue } from './queue.ts'
import { recordsSize } from './records-size.ts'
import { type NoTx, type RedisTx, TxFactory } from './redis-tx.ts'
import { redisSchema, serverWarnings } from './schema.ts'
import { Transactions } from './transactions.ts'
import { joinedStore, redisParts } from './within.ts'

/** Effects are commands that are applied together with the record; see `Guarantee`. */
export interface IsolatedRedisStore extends Store<RedisTx> {
  readonly guarantee: 'isolated'
  readonly parts: Parts<RedisTx>
  readonly queue: Queue<RedisTx>
}

/** Effects live elsewhere; a crash between them and the record repeats them. */
export interface LeaseRedisStore extends Store<NoTx> {
  readonly guarantee: 'lease'
  readonly queue: Queue<NoTx>
}

/**
 * Keeps everything in Redis, over a client of node-redis or ioredis.
 *
 * @example
 * const store = redisStore({ client, mode: 'isolated', recordTtlMs: 30 * 24 * 3_600_000 })
 * app.on('order.placed', 'take-stock', (message, { tx }) => tx.command('INCRBY', `stock:${message.body.sku}`, -1))
 */
export function redisStore(options: IsolatedRedisOptions): IsolatedRedisStore
export function redisStore(options: LeaseRedisOptions): LeaseRedisStore
export function redisStore(options: IsolatedRedisOptions | LeaseRedisOptions): IsolatedRedisStore | LeaseRedisStore {
  const checked = checkedOptions(options)
  const connection = new Connection(checked.client, keyPrefix(checked.hashTag), checked)
  if (options.mode === 'lease') return { ...store<NoTx>(connection, new TxFactory(undefined), checked, 'lease') }
  const factory = new TxFactory<RedisTx>(new CommandTable(connection, checked.hashTag))
  return { ...store(connection, factory, checked, 'isolated'), parts: redisParts(factory) }
}

type WithQueue<Tx, G> = Store<Tx> & { readonly queue: Queue<Tx>; readonly guarantee: G }

function store<Tx extends object, G extends 'isolated' | 'lease' = 'lease'>(
  connection: Connection,
  factory: TxFactory<Tx>,
  { onWarning, ...settings }: CheckedOptions,
  guarantee: G,
): WithQueue<Tx, G> {
  const name = 'redis'
  const transactions = new Transactions(connection, factory, settings)
  const inbox = redisInbox(transactions)
  return {
    name,
    guarantee,
    // What handlers of a lease store do cannot be rolled back, so one failure must not make the other messages run again.
    capabilities: { revocable: guarantee === 'isolated', connections: 100 },
    transaction: (work, options) => transactions.run(work, options),
    lend: (tx, options) => factory.lend(tx, options),
    within: (tx) => joinedStore(tx, { factory, inbox, name, guarantee }),
    inbox: { ...inbox, size: () => recordsSize(connection) },
    parking: redisParking(transactions),
    facts: redisFacts(transactions),
    queue: redisQueue(transactions),
    schema: redisSchema(connection, { hasCommands: guarantee === 'isolated', onWarning }),
    warnings: (options) => serverWarnings(connection, options),
    limits: async () => ({ messageBytes: await largestMessage(connection) }),
    classify,
    // A real write, because a server whose memory is full, or that has become a replica, still answers to PING.
    ping: async () => void (await connection.call('SET', `${connection.prefix}pinged`, '1', 'PX', 60_000)),
    close: async () => connection.close(),
  }
}
