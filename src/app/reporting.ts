import { version } from '../encoding/version.ts'
import type { CallInProgress } from '../engine/calls/calls-in-progress.ts'
import type { Engine } from '../engine/engine.ts'
import type { ReportedBroker, ReportedHandler, ReportedTrouble } from '../facts/index.ts'
import { type CallNow, Heartbeat } from '../heartbeat/heartbeat.ts'
import type { Handlers } from './handlers.ts'
import { decideHeartbeat, type HeartbeatOptions } from './heartbeat-options.ts'

export interface Reporting {
  readonly app: string | undefined
  readonly duties: readonly string[]
  readonly sources: readonly string[]
  readonly destinations: readonly string[]
  readonly handlers: Handlers
  readonly pool: { readonly connections: number; readonly batches: number }
  brokers(): readonly ReportedBroker[]
  trouble(): readonly ReportedTrouble[]
}

/** The heartbeat of an app, which also obeys what operators have paused; `undefined` if it is turned off. */
export function heartbeatOf(
  engine: Engine<unknown>,
  { handlers, brokers, trouble, ...about }: Reporting,
  given: boolean | HeartbeatOptions | undefined,
): Heartbeat | undefined {
  const options = decideHeartbeat(given)
  if (options === undefined) return undefined
  const { store, clock, events, breakers, calls } = engine
  const reported = {
    about: () => {
      const now = { handlers: reportedHandlers(engine, handlers), brokers: brokers(), trouble: trouble() }
      return { ...about, version, ...now }
    },
    running: (limit: number) => ({ count: calls.size, calls: calls.longest(limit).map(callNow) }),
    obey(pauses: readonly { readonly handler: string }[]) {
      // A pause of a former name is one of the handler that has that name now.
      const paused = new Set(pauses.flatMap(({ handler }) => handlers.named(handler)?.name ?? []))
      if (breakers.obeyOperators(paused)) engine.wake('retries')
    },
  }
  return new Heartbeat({ store, clock, events }, reported, options)
}

function reportedHandlers({ breakers }: Engine<unknown>, handlers: Handlers): readonly ReportedHandler[] {
  return handlers.all.map((handler) => {
    const { name, type, formerly } = handler
    return { name, type, formerly, ...breakers.stateOf(handler) }
  })
}

function callNow({ execution, since }: CallInProgress): CallNow {
  const { handler, runs } = execution
  const [first] = runs
  const failedBefore = Math.max(0, ...runs.map(({ owner }) => owner?.attempts ?? 0))
  return {
    handler: handler.name,
    messageId: first?.message.id ?? '',
    key: first?.key ?? '',
    messages: runs.length,
    attempt: failedBefore + 1,
    since,
  }
}
