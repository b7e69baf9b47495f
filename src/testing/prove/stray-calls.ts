import type { Store } from '../../contracts/index.ts'
import type { Journal, OutsideCall } from './journal.ts'
import type { Prover } from './prover.ts'
import { oneLine } from './steps.ts'

/**
 * Records uses of `tx` that the handler did not wait for. Returns the number of the failure if this run caused it. A call that
 * is never awaited shows in every run, so it does not count as caused by this one.
 */
export function noteStrayCalls<S extends Store>(
  prover: Prover<S>,
  journal: Journal,
  where: string,
): number | undefined {
  let broughtAbout: number | undefined
  for (const [handler, ofHandler] of Map.groupBy(journal.strayCalls, (call) => call.handler)) {
    for (const [after, calls] of Map.groupBy(ofHandler, (call) => call.after)) {
      const name = after === 'resolved' ? 'not-awaited' : 'runs-on'
      if (name === 'not-awaited' && prover.hasFound(name, [handler])) continue
      const how = after === 'resolved' ? 'returned' : 'failed'
      const seen = calls.flatMap(({ text, place }) => [
        `${handler} had already ${how} when this ran: ${oneLine(text, 70)}`,
        ...(place === undefined ? [] : [place]),
      ])
      const number = prover.found(name, { handlers: [handler], where, seen: few(seen), journal })
      if (name === 'runs-on') broughtAbout = number
    }
  }
  return broughtAbout
}

/** Several layers report the same call. They are listed from the most to the least informative. */
const byKnowledge: readonly OutsideCall['kind'][] = ['publish', 'fetch', 'request', 'child process', 'socket']

export function noteOutsideCalls<S extends Store>(prover: Prover<S>, journal: Journal, where: string): void {
  for (const [handler, calls] of Map.groupBy(journal.outsideCalls, (call) => call.handler)) {
    const kind = byKnowledge.find((each) => calls.some((call) => call.kind === each))
    const made = calls.filter((call) => call.kind === kind)
    const seen = made.flatMap(({ messageId, what, place }) => [
      `While ${messageId} was being handled: ${kind}  ${what}`,
      ...(place === undefined ? [] : [place]),
    ])
    prover.found('calls-out', { handlers: [handler], where, seen: few(seen), journal })
  }
}

/** Most lines are repetitions. */
function few(lines: readonly string[]): readonly string[] {
  return [...new Set(lines)].slice(0, 6)
}
