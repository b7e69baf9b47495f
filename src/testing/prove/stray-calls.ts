import type { Store } from '../../contracts/index.ts'
import type { Journal, OutsideCall } from './journal.ts'
import type { Prover } from './prover.ts'
import { oneLine } from './steps.ts'

/** Notes uses of `tx` that nobody waited for, and tells the number of the failure. */
export function noteStrayCalls<S extends Store>(
  prover: Prover<S>,
  journal: Journal,
  where: string,
): number | undefined {
  let number: number | undefined
  for (const [handler, calls] of Map.groupBy(journal.strayCalls, (call) => call.handler)) {
    const { after } = calls[0] as (typeof calls)[number]
    const how = after === 'resolved' ? 'returned' : 'failed'
    number = prover.found(after === 'resolved' ? 'not-awaited' : 'runs-on', {
      handlers: [handler],
      where,
      seen: calls
        .slice(0, 3)
        .map(({ text }) => `When ${handler} had ${how}, this was not done yet: ${oneLine(text, 80)}`),
      journal,
    })
  }
  return number
}

/** Of one call several layers tell; the first of these knows most about it. */
const byKnowledge: readonly OutsideCall['kind'][] = ['publish', 'fetch', 'request', 'child process', 'socket']

export function noteOutsideCalls<S extends Store>(prover: Prover<S>, journal: Journal, where: string): void {
  for (const [handler, calls] of Map.groupBy(journal.outsideCalls, (call) => call.handler)) {
    const kind = byKnowledge.find((each) => calls.some((call) => call.kind === each))
    const made = calls.filter((call) => call.kind === kind)
    const seen = made.map(({ messageId, what }) => `While ${messageId} was handled: ${kind}  ${what}`)
    prover.found('calls-out', { handlers: [handler], where, seen: [...new Set(seen)].slice(0, 5), journal })
  }
}
