import type { Events } from '../contracts/index.ts'
import { countEvent } from './count-event.ts'
import { type ProcessMetric, processMetrics } from './definitions.ts'
import { MetricSet } from './metric-set.ts'

export type ProcessCounters = MetricSet<ProcessMetric>

/** What can be counted: an app. */
export interface WithEvents {
  readonly events: Pick<Events, 'listen'>
}

const known = new WeakMap<object, ProcessCounters>()

/** What an app does, counted once however many ask. Begins with the first call. */
export function countersOf(app: WithEvents): ProcessCounters {
  const counters = known.get(app)
  if (counters !== undefined) return counters
  const made = new MetricSet(processMetrics)
  known.set(app, made)
  app.events.listen((event) => countEvent(event, (...counted) => made.add(...counted)), { replacesLog: false })
  return made
}
