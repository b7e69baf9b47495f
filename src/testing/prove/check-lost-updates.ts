import type { IncomingMessage, Store } from '../../contracts/index.ts'
import { bothOrders, type Order } from './orders.ts'
import type { OverallCheck, Verdict } from './proof.ts'
import type { Prover } from './prover.ts'
import type { Step } from './steps.ts'
import { stepNames } from './wording.ts'

const title = 'Two concurrent messages do not overwrite each other'

/**
 * Stops one message before each of its queries while another process handles the next one, as far as the database allows. The
 * effect must be that of one order or of the other.
 */
export async function checkLostUpdates<S extends Store>(prover: Prover<S>): Promise<OverallCheck> {
  const reason = prover.baseline.isSerial
    ? 'SQLite allows one writer at a time; run the proof on your production database system'
    : prover.messages.length < 2
      ? 'there is only one message; give two that touch the same rows'
      : undefined
  if (reason !== undefined) return { title, verdict: { kind: 'not-applicable', reason } }
  let verdict: Verdict = { kind: 'held' }
  for (let first = 0; first + 1 < prover.messages.length; first++) {
    const { swapped, orders } = await bothOrders(prover, first)
    // If two messages work in only one order, the second may well fail when it comes too early.
    if (orders.length < 2) continue
    for (const order of [prover.messages, swapped]) {
      const failure = await meet(prover, order, first, orders)
      if (failure !== undefined) verdict = { kind: 'broken', failure }
    }
  }
  return { title, verdict }
}

/** How many runs this will take. */
export function countMeetings<S extends Store>({ baseline, messages }: Prover<S>): number {
  if (baseline.isSerial) return 0
  const stops = messages.map((message) => (baseline.steps.get(message) ?? []).filter(isStop).length)
  return stops.slice(1).reduce((sum, count, index) => sum + count + (stops[index] ?? 0) + 1, 0)
}

function isStop({ kind }: Step): boolean {
  return kind === 'query' || kind === 'commit'
}

async function meet<S extends Store>(
  prover: Prover<S>,
  order: readonly IncomingMessage[],
  at: number,
  fine: readonly Order[],
): Promise<number | undefined> {
  const [held, meanwhile] = order.slice(at, at + 2) as [IncomingMessage, IncomingMessage]
  const steps = prover.baseline.steps.get(held) ?? []
  const names = stepNames(steps)
  let number: number | undefined
  for (const [index, step] of steps.entries()) {
    if (!isStop(step)) continue
    const where = `${meanwhile.id} handled by another process before ${names[index]} of ${held.id}`
    const { effect, journal } = await prover.run(where, {
      batches: prover.oneByOne(order.filter((message) => message !== meanwhile)),
      strike: { message: held, step: index, what: { kind: 'elsewhere', deliver: meanwhile } },
    })
    const met = { pair: [held, meanwhile], how: 'Handled at the same time', where, effect, journal } as const
    number ??= await prover.foundUnless(fine, 'lost-update', met)
  }
  return number
}
