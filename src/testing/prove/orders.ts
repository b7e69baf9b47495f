import type { IncomingMessage, Store } from '../../contracts/index.ts'
import type { Prover } from './prover.ts'
import type { Tables } from './tables.ts'

/** An order of two messages, and the effect that it has. */
export interface Order {
  /** `p1 before p2` */
  readonly name: string
  readonly effect: Tables
}

export interface Orders {
  /** All messages, with the two in the other order. */
  readonly swapped: readonly IncomingMessage[]
  /** The order in which the messages were given, and the other one unless messages fail in it. */
  readonly orders: readonly Order[]
}

/** Handles the messages one by one, with a message and the one after it in the other order. */
export async function bothOrders<S extends Store>(prover: Prover<S>, at: number): Promise<Orders> {
  const [first, second] = prover.messages.slice(at, at + 2) as [IncomingMessage, IncomingMessage]
  const swapped = prover.messages.toSpliced(at, 2, second, first)
  const { effect, journal } = await prover.run('in another order', { batches: prover.oneByOne(swapped) })
  const given = { name: `${first.id} before ${second.id}`, effect: prover.baseline.effect }
  const other = { name: `${second.id} before ${first.id}`, effect }
  return { swapped, orders: journal.failures.length > 0 ? [given] : [given, other] }
}
