import type { Events } from '../contracts/index.ts'
import { version } from '../encoding/version.ts'
import { JustonceError } from '../errors/index.ts'
import { type MetricDefinition, processMetrics, storeMetrics } from '../metrics/definitions.ts'
import type { MetricSet } from '../metrics/metric-set.ts'
import { countersOf } from '../metrics/process-counters.ts'
import { storeGauges } from '../metrics/store-gauges.ts'
import type { Operations } from '../operations/index.ts'
import type { ApiShape, MeterShape, ObserverShape } from './api-shape.ts'
import { measureCalls } from './measure-calls.ts'

/** An app; without `operations`, only what this process does is measured. */
export interface Measurable {
  readonly events: Pick<Events, 'listen'>
  readonly operations?: Operations | undefined
}

type Definitions = Readonly<Record<string, MetricDefinition>>

/**
 * The metrics that Prometheus gets, as instruments of OpenTelemetry. They are counted here and observed when a reader asks, so that a
 * message costs no call of the SDK. Returns what ends it.
 */
export function measureApp({ metrics }: ApiShape, app: Measurable): () => void {
  if (metrics === undefined)
    throw new JustonceError('OPTION_INVALID', {
      message: 'measure() needs the metrics of @opentelemetry/api: pass the whole module.',
    })
  const meter = metrics.getMeter('justonce', version)
  const { operations } = app
  const counters = countersOf(app)
  const ends = [
    measureCalls(meter, app),
    observe(meter, processMetrics, async () => counters),
    ...(operations === undefined ? [] : [observe(meter, storeMetrics, () => storeGauges(operations))]),
  ]
  return () => {
    for (const end of ends) end()
  }
}

function observe(meter: MeterShape, definitions: Definitions, read: () => Promise<MetricSet<string>>): () => void {
  const instruments = Object.entries(definitions).map(([name, definition]) => {
    const { type, labels, help: description } = definition
    const described = { description, unit: unitOf(name) }
    const create = type === 'counter' ? meter.createObservableCounter : meter.createObservableGauge
    return { name, labels, instrument: create.call(meter, instrumentName(name), described) as never }
  })
  const callback = async (observer: ObserverShape): Promise<void> => {
    const metrics = await read()
    for (const { name, labels, instrument } of instruments)
      for (const sample of metrics.samplesOf(name))
        observer.observe(
          instrument,
          sample.value,
          Object.fromEntries(labels.map((label, place) => [label, sample.labels[place] ?? ''])),
        )
  }
  const observables = instruments.map(({ instrument }) => instrument)
  meter.addBatchObservableCallback(callback, observables)
  return () => meter.removeBatchObservableCallback(callback, observables)
}

/** What Prometheus makes of it, by the rules of OpenTelemetry, is the name that our own text has: dashboards fit both. */
export function instrumentName(name: string): string {
  const bare = name.replace(/^justonce_/, '').replace(/_(seconds|ratio|bytes)(?=_total$|$)/, '')
  const base = bare.replace(/_total$/, '')
  // The counter of a gauge with the same name keeps the word that tells them apart.
  return `justonce.${base !== bare && `justonce_${base}` in storeMetrics ? `${base}.total` : base}`
}

export function unitOf(name: string): string {
  if (/_seconds(_total)?$/.test(name)) return 's'
  if (name.endsWith('_bytes')) return 'By'
  return '1'
}
