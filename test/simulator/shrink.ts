import type { Scenario } from './scenario.ts'
import { simulate } from './simulate.ts'
import type { Program } from './world.ts'

/** Makes a failing scenario smaller while it still fails in the same way, so that its trace can be read by a person. */
export async function shrink(scenario: Scenario, program: Program, kind: string, runs = 400): Promise<Scenario> {
  let smallest = scenario
  let left = runs
  for (let progress = true; progress && left > 0; ) {
    progress = false
    for (const candidate of smaller(smallest)) {
      if (left-- <= 0) break
      const { violations } = await simulate(candidate, program)
      if (!violations.some((violation) => violation.startsWith(kind))) continue
      smallest = candidate
      progress = true
      break
    }
  }
  return smallest
}

/** Everything that is one step smaller, the big steps first. */
function* smaller(scenario: Scenario): Generator<Scenario> {
  const { messages, faults, disasters, processes, concurrency } = scenario
  for (const size of [messages.length >> 1, 1]) {
    if (size < 1 || messages.length <= size) continue
    for (let from = 0; from < messages.length; from += size)
      yield { ...scenario, messages: without(messages, from, size) }
  }
  for (const size of [faults.length >> 1, 1]) {
    if (size < 1) continue
    for (let from = 0; from < faults.length; from += size) yield { ...scenario, faults: without(faults, from, size) }
  }
  for (let at = 0; at < disasters.length; at++) yield { ...scenario, disasters: without(disasters, at, 1) }
  if (processes > 1) yield { ...scenario, processes: processes - 1 }
  if (concurrency > 1) yield { ...scenario, concurrency: concurrency - 1 }
  for (const [at, message] of messages.entries()) {
    if (message.sentAt.length > 1) {
      for (const sentAt of [message.sentAt.slice(1), message.sentAt.slice(0, -1)])
        yield { ...scenario, messages: messages.with(at, { ...message, sentAt }) }
    }
  }
}

function without<T>(items: readonly T[], from: number, count: number): T[] {
  return items.filter((_, index) => index < from || index >= from + count)
}
