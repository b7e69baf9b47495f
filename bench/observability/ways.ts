import * as api from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { InMemoryMetricExporter, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  type ReadableSpan,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-base'
import { serveDashboard } from '../../src/dashboard/index.ts'
import type { AlertOptions, App } from '../../src/index.ts'
import { logEvents } from '../../src/index.ts'
import { prometheusText } from '../../src/metrics/index.ts'
import { openTelemetry } from '../../src/opentelemetry/index.ts'

// biome-ignore lint/suspicious/noExplicitAny: an app of any store
type AnyApp = App<any, any>

/** What is watched, and how it is begun; returns what ends it. */
export interface Watching {
  readonly name: string
  readonly heartbeat: boolean
  readonly alerts?: readonly AlertOptions[]
  /** The share of messages whose traces are recorded. */
  readonly traced?: number
  begin?(app: AnyApp): Promise<() => Promise<void>>
}

const alerts: readonly AlertOptions[] = [
  { when: 'dead-letters', over: 0, notify: 'log' },
  { when: 'failure-rate', over: 0.1, notify: 'log' },
  { when: 'lag', over: 60_000, notify: 'log' },
]

/** An hour in a few seconds: Prometheus asks every second, and a page of the dashboard every two. */
async function watch(app: AnyApp): Promise<() => Promise<void>> {
  let lines = 0
  const count = (): void => void lines++
  app.events.listen(logEvents({ debug: () => {}, info: count, warn: count, error: count }))
  const server = await serveDashboard(app.operations, { port: 0 })
  const scrape = setInterval(() => void prometheusText(app), 1_000)
  const look = setInterval(() => void fetch(`${server.url}api/overview?minutes=60`).then((each) => each.text()), 2_000)
  return async () => {
    clearInterval(scrape)
    clearInterval(look)
    await server.close()
  }
}

export const ways: readonly Watching[] = [
  { name: 'off', heartbeat: false },
  { name: 'heartbeats', heartbeat: true },
  { name: 'all-but-traces', heartbeat: true, alerts, begin: watch },
  { name: 'all, 1 of 10 traced', heartbeat: true, alerts, traced: 0.1, begin: watch },
  { name: 'all, each traced', heartbeat: true, alerts, traced: 1, begin: watch },
]

/** The real SDK with an exporter that throws away what it gets: what an exporter costs is not ours. */
export function startSdk(share: number) {
  const thrownAway = {
    export: (_: ReadableSpan[], done: (result: { code: number }) => void): void => done({ code: 0 }),
    shutdown: async () => {},
  }
  const manager = new AsyncLocalStorageContextManager().enable()
  const tracing = new BasicTracerProvider({
    sampler: new TraceIdRatioBasedSampler(share),
    spanProcessors: [new BatchSpanProcessor(thrownAway, { maxQueueSize: 100_000 })],
  })
  const reader = new PeriodicExportingMetricReader({
    exporter: new InMemoryMetricExporter(1),
    exportIntervalMillis: 1_000,
  })
  const metrics = new MeterProvider({ readers: [reader] })
  api.context.setGlobalContextManager(manager)
  api.propagation.setGlobalPropagator(new W3CTraceContextPropagator())
  const telemetry = openTelemetry({ ...api, trace: { ...tracesOf(tracing) }, metrics })
  return {
    telemetry,
    async stop() {
      await tracing.shutdown()
      await metrics.shutdown()
      api.context.disable()
      api.propagation.disable()
    },
  }
}

function tracesOf(provider: BasicTracerProvider) {
  return {
    getTracer: provider.getTracer.bind(provider),
    setSpan: api.trace.setSpan,
    getSpanContext: api.trace.getSpanContext,
  }
}
