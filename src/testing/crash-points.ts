import type { Delivery, InsideTransaction, PositionMove, Positions, Store, Transport } from '../contracts/index.ts'
import { overriding } from './overriding.ts'

/**
 * The moments at which a consumer may die, in the order in which a message passes them.
 * - `before-claim`: delivered, and nothing written.
 * - `after-claim`: claimed in a transaction that is still open; no handler has run.
 * - `between-writes`: inside a handler. Only the handler knows where that is, so it calls `die` itself.
 * - `before-commit`: the handlers have run, and the commit, with what travels with it, is not sent.
 * - `after-commit`: committed, but not acknowledged to the broker.
 * - `after-ack`: the broker has forgotten the message.
 */
export type CrashPoint =
  | 'before-claim'
  | 'after-claim'
  | 'between-writes'
  | 'before-commit'
  | 'after-commit'
  | 'after-ack'

/** Where `crashingStore` and `crashingTransport` can end a process. */
export const crashPoints: readonly CrashPoint[] = [
  'before-claim',
  'after-claim',
  'between-writes',
  'before-commit',
  'after-commit',
  'after-ack',
]

/** A crash point that was reached, and by which messages. */
export interface ReachedPoint {
  readonly point: CrashPoint
  /** The keys of the messages that share this moment: one transaction, or one acknowledgement. */
  readonly keys: readonly string[]
  /** What is claimed if positions are kept in the store. With positions alone, nothing else is claimed. */
  readonly moves?: readonly PositionMove[]
}

/** Called and awaited every time the point is reached. If it returns, everything continues as usual. */
export type Die = (reached: ReachedPoint) => unknown

/**
 * A store that calls `die` when a batch reaches the point. Points outside the store are left to `crashingTransport` and to the
 * handler, so that both can be given the same point.
 *
 * @example
 * const die = () => process.kill(process.pid, 'SIGKILL')
 * const store = crashingStore(sqliteStore({ path: 'app.db' }), 'before-commit', die)
 * const transport = crashingTransport(queueTransport({ store }), 'before-commit', die)
 */
export function crashingStore<S extends Store>(store: S, point: CrashPoint, die: Die): S {
  const inner: Store = store
  const claimed = new WeakMap<object, Claimed>()
  const reach = async (at: CrashPoint, { keys, moves }: Claimed): Promise<void> => {
    if (at !== point || keys.length + moves.length === 0) return
    await die({ point, keys, ...(moves.length > 0 && { moves }) })
  }
  const replaced: Partial<Store> = {
    async transaction(work, options) {
      const all: Claimed = { keys: [], moves: [] }
      const value = await inner.transaction(async (tx, lastWrites) => {
        claimed.set(tx as object, all)
        const result = await work(tx, lastWrites)
        await reach('before-commit', all)
        return result
      }, options)
      await reach('after-commit', all)
      return value
    },
    inbox: overriding(inner.inbox, {
      async claim(tx, requests) {
        const keys = requests.map(({ key }) => key)
        await reach('before-claim', { keys, moves: [] })
        const answer = await inner.inbox.claim(tx, requests)
        claimed.get(tx as object)?.keys.push(...keys)
        await reach('after-claim', { keys, moves: [] })
        return answer
      },
    }),
    positions: inner.positions && positionsThatReach(inner.positions, claimed, reach),
    parking: overriding(inner.parking, {
      // For later attempts of a parked message, taking its row replaces the claim.
      async take(tx, tickets) {
        const taken = await inner.parking.take(tx, tickets)
        const keys = tickets.filter((_, index) => taken[index]).map(({ key }) => key)
        claimed.get(tx as object)?.keys.push(...keys)
        await reach('after-claim', { keys, moves: [] })
        return taken
      },
    }),
  }
  return overriding(store, replaced as Partial<S>)
}

/** What a transaction has claimed so far. */
interface Claimed {
  readonly keys: string[]
  readonly moves: PositionMove[]
}

/** If positions are kept in the store, moving a position replaces the claim. */
function positionsThatReach(
  positions: Positions<unknown>,
  claimed: WeakMap<object, Claimed>,
  reach: (at: CrashPoint, claimed: Claimed) => Promise<void>,
): Positions<unknown> {
  return overriding(positions, {
    async move(tx, group, wanted) {
      await reach('before-claim', { keys: [], moves: [...wanted] })
      const answers = await positions.move(tx, group, wanted)
      const moves = wanted.filter((_, index) => answers[index] === undefined)
      claimed.get(tx as object)?.moves.push(...moves)
      await reach('after-claim', { keys: [], moves })
      return answers
    },
  })
}

/**
 * A transport that calls `die` when messages have been acknowledged. If it settles inside the transaction, that is the moment
 * after the commit, and `die` is not awaited there.
 */
export function crashingTransport<T extends Transport>(transport: T, point: CrashPoint, die: Die): T {
  if (point !== 'after-ack') return transport
  const inner: Transport = transport
  const acknowledged = (deliveries: readonly Delivery[]): unknown =>
    deliveries.length > 0 ? die({ point, keys: deliveries.map(({ message }) => message.id ?? '') }) : undefined
  const replaced: Partial<Transport> = {
    async settle(deliveries, settlement) {
      await inner.settle(deliveries, settlement)
      if (settlement.kind === 'done') await acknowledged(deliveries)
    },
    inside: inner.inside && insideThatDies(inner.inside, acknowledged),
  }
  return overriding(transport, replaced as Partial<T>)
}

function insideThatDies(
  inside: InsideTransaction,
  acknowledged: (deliveries: readonly Delivery[]) => unknown,
): InsideTransaction {
  return overriding(inside, {
    forget(deliveries) {
      inside.forget(deliveries)
      void acknowledged(deliveries)
    },
  })
}
