import type { IncomingMessage, Store } from '../../contracts/index.ts'
import { bothOrders, type Order } from './orders.ts'
import type { OverallCheck, Verdict } from './proof.ts'
import type { Prover } from './prover.ts'
import { stepNames } from './wording.ts'

const title = 'Messages that interleave in one transaction do not disturb each other'

/**
 * Handles two messages in one transaction, and stops one before each of its queries until the other is done. The effect must
 * be that of one order or of the other. `undefined` if no handler interleaves.
 */
export async function checkInterleaving<S extends Store>(prover: Prover<S>): Promise<OverallCheck | undefined> {
  const { interleaving } = prover.baseline.journal
  if (interleaving.size === 0) return undefined
  const pairs = pairsOf(prover)
  const reason = prover.baseline.isSerial
    ? 'statements of SQLite never wait; run the proof on your production database system'
    : pairs.length === 0
      ? 'there are no two messages, one after the other, whose handlers interleave and whose keys differ'
      : undefined
  if (reason !== undefined) return { title, verdict: { kind: 'not-applicable', reason } }
  let verdict: Verdict = { kind: 'held' }
  for (const first of pairs) {
    const { swapped, orders } = await bothOrders(prover, first)
    for (const order of [prover.messages, swapped]) {
      const failure = await mix(prover, order, first, orders)
      if (failure !== undefined) verdict = { kind: 'broken', failure }
    }
  }
  return { title, verdict }
}

/** The numbers of messages that interleave with the next one. */
function pairsOf<S extends Store>(prover: Prover<S>): readonly number[] {
  const { interleaving } = prover.baseline.journal
  const mayMix = (message: IncomingMessage): boolean => {
    const handlers = prover.handlersOf(message)
    return handlers.length > 0 && handlers.every((handler) => interleaving.has(handler))
  }
  return prover.messages.flatMap((message, at) => {
    const next = prover.messages[at + 1]
    const isOneChain = message.key !== undefined && message.key === next?.key
    return next === undefined || isOneChain || !mayMix(message) || !mayMix(next) ? [] : [at]
  })
}

async function mix<S extends Store>(
  prover: Prover<S>,
  order: readonly IncomingMessage[],
  at: number,
  fine: readonly Order[],
): Promise<number | undefined> {
  const [held, other] = order.slice(at, at + 2) as [IncomingMessage, IncomingMessage]
  const steps = prover.baseline.steps.get(held) ?? []
  const names = stepNames(steps)
  const batches = [...prover.oneByOne(order.slice(0, at)), [held, other], ...prover.oneByOne(order.slice(at + 2))]
  let number: number | undefined
  let query = 0
  for (const [index, step] of steps.entries()) {
    if (step.kind !== 'query') continue
    const where = `${other.id} in the same transaction before ${names[index]} of ${held.id}`
    const hold = { message: held, query: query++, until: other, handlers: prover.handlersOf(other).length }
    const { effect, journal } = await prover.run(where, { batches, hold })
    for (const refusal of journal.notInterleavable) prover.note(refusal)
    const met = { pair: [held, other], how: 'Mixed in one transaction', where, effect, journal } as const
    number ??= await prover.foundUnless(fine, 'interleaves-badly', met)
  }
  return number
}
