import type { Operations } from '../operations/index.ts'
import { type StoreMetric, storeMetrics } from './definitions.ts'
import { MetricSet } from './metric-set.ts'

/** Asks the store for what it knows of all processes. */
export async function storeGauges({
  overview,
  handlers,
  letters,
  alerts,
}: Pick<Operations, 'overview' | 'handlers' | 'letters' | 'alerts'>): Promise<MetricSet<StoreMetric>> {
  const gauges = new MetricSet(storeMetrics)
  const set = gauges.add.bind(gauges)
  const seen = await overview({ minutes: 0 })
  set('justonce_processes', seen.processes)
  set('justonce_waiting_oldest_seconds', secondsSince(seen.parked.waitingSince))
  set('justonce_delayed_messages', seen.delayed)
  set('justonce_intents_waiting', seen.intents.waiting)
  set('justonce_intents_unknown', seen.intents.dead)
  for (const [name, { ready, hidden, oldestMs = 0 }] of Object.entries(seen.queues)) {
    set('justonce_queue_messages', ready + hidden, name)
    set('justonce_queue_oldest_seconds', oldestMs / 1_000, name)
  }
  for (const [source, waiting] of Object.entries(seen.brokers)) set('justonce_broker_messages', waiting, source)
  for (const [name, { ready, hidden, oldestMs = 0 }] of Object.entries(seen.outgoing)) {
    set('justonce_outgoing_messages', ready + hidden, name)
    set('justonce_outgoing_oldest_seconds', oldestMs / 1_000, name)
  }
  // Some have no handler: a destination has refused them, or they are of an unknown type.
  const dead = await letters.counts()
  for (const [name, count] of Object.entries(dead)) set('justonce_dead_letters', count, name)
  for (const each of await handlers.list()) {
    if (dead[each.name] === undefined) set('justonce_dead_letters', 0, each.name)
    set('justonce_waiting_messages', each.waiting, each.name)
    if (each.failureRate !== undefined) set('justonce_handler_failure_ratio', each.failureRate, each.name)
    if (each.p50Ms !== undefined) set('justonce_handler_seconds', each.p50Ms / 1_000, each.name, '0.5')
    if (each.p99Ms !== undefined) set('justonce_handler_seconds', each.p99Ms / 1_000, each.name, '0.99')
    set('justonce_handler_paused', each.paused === undefined ? 0 : 1, each.name)
    const open = each.processes.filter(({ breaker }) => breaker === 'open')
    set('justonce_handler_breakers_open', open.length, each.name)
  }
  for (const { rule, phase } of await alerts()) if (phase !== 'pending') set('justonce_alerts_firing', 1, rule)
  if (seen.records !== undefined && seen.records.of !== 'database') {
    if (seen.records.rows !== undefined) set('justonce_records', seen.records.rows)
    if (seen.records.bytes !== undefined) set('justonce_records_size_bytes', seen.records.bytes)
  }
  if (seen.horizon !== undefined) set('justonce_horizon_seconds', secondsSince(seen.horizon))
  return gauges
}

function secondsSince(at: Date | undefined): number {
  return at === undefined ? 0 : Math.max(0, (Date.now() - at.getTime()) / 1_000)
}
