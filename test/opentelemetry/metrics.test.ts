import * as api from '@opentelemetry/api'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { expect, onTestFinished, test } from 'vitest'
import { type JustonceEvent, justonce } from '../../src/index.ts'
import { memoryStore } from '../../src/memory.ts'
import { processMetrics, storeMetrics } from '../../src/metrics/definitions.ts'
import { openTelemetry } from '../../src/opentelemetry/index.ts'
import { instrumentName } from '../../src/opentelemetry/measure.ts'
import { memoryTransport } from '../../src/transports/memory/index.ts'

/** The real SDK, one for each test: it keeps what it has once observed. */
function openSdk() {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 })
  const metrics = new MeterProvider({ readers: [reader] })
  onTestFinished(() => metrics.shutdown())
  const collected = async () => {
    exporter.reset()
    await reader.forceFlush()
    return exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics))
  }
  return { telemetry: openTelemetry({ ...api, metrics }), collected }
}

function open() {
  const transport = memoryTransport()
  const app = justonce({ store: memoryStore(), transport, log: false })
  onTestFinished(() => app.stop())
  const handle = async (...ids: readonly string[]) => {
    for (const id of ids) {
      transport.send([{ id, type: `note.${id}`, body: {} }])
      await transport.idle()
    }
  }
  return { app, handle, ...openSdk() }
}

test('what an app does and what its store holds is exported, by handler and never by message', async () => {
  const { app, handle, telemetry, collected } = open()
  for (const id of ['m1', 'm2', 'bad'])
    app.on(`note.${id}`, { name: id === 'bad' ? 'fail' : `tag-${id}`, retry: { attempts: 1 } }, () => {
      if (id === 'bad') throw new Error('no')
    })
  const end = telemetry.measure(app)
  await app.start()
  await handle('m1', 'm2', 'm1', 'bad')
  let metrics = await collected()
  const points = (name: string) =>
    metrics
      .filter(({ descriptor }) => descriptor.name === name)
      .flatMap(({ dataPoints }) => dataPoints.map(({ attributes, value }) => [attributes, value]))
  expect(points('justonce.processed')).toEqual([
    [{ handler: 'tag-m1' }, 1],
    [{ handler: 'tag-m2' }, 1],
  ])
  expect(points('justonce.duplicates')).toEqual([[{ handler: 'tag-m1', known: 'here' }, 1]])
  expect(points('justonce.dead_letters.total')).toEqual([[{ handler: 'fail' }, 1]])
  expect(points('justonce.dead_letters')).toContainEqual([{ handler: 'fail' }, 1])
  expect(points('justonce.processes')).toEqual([[{}, 1]])
  const process = { 'messaging.system': 'justonce', 'messaging.operation.name': 'process' }
  expect(points('messaging.process.duration')).toEqual([
    [{ ...process, 'justonce.handler': 'tag-m1' }, expect.objectContaining({ count: 1 })],
    [{ ...process, 'justonce.handler': 'tag-m2' }, expect.objectContaining({ count: 1 })],
    [{ ...process, 'justonce.handler': 'fail', 'error.type': '_OTHER' }, expect.objectContaining({ count: 1 })],
  ])
  expect(JSON.stringify(metrics)).not.toMatch(/note\.m1|"m2"/)
  end()
  await handle('m1')
  metrics = await collected()
  expect(points('justonce.duplicates')).toEqual([[{ handler: 'tag-m1', known: 'here' }, 1]])
})

test('a store that does not answer leaves out what it knows, not what the process counts', async () => {
  const { app, handle, telemetry, collected } = open()
  app.on('note.m1', 'tag', () => {})
  const operations = { ...app.operations, overview: () => Promise.reject(new Error('down')) }
  const end = telemetry.measure({ events: app.events, operations })
  onTestFinished(end)
  await app.start()
  await handle('m1')
  const names = (await collected()).map(({ descriptor }) => descriptor.name)
  expect(names).toContain('justonce.processed')
  expect(names).not.toContain('justonce.processes')
})

test('handlers of many names stay a bounded number of series', async () => {
  const { telemetry, collected } = openSdk()
  const listeners: ((event: JustonceEvent) => void)[] = []
  const listen = (listener: (event: JustonceEvent) => void) => {
    listeners.push(listener)
    return () => {}
  }
  telemetry.measure({ events: { listen } })
  for (let number = 0; number < 500; number++)
    for (const listener of listeners) {
      listener({ kind: 'processed', handler: `h${number}`, key: 'k', type: 't' })
      listener({ kind: 'called', handler: `h${number}`, messages: 1, ms: 1, failed: false })
    }
  const counts = (await collected()).filter(({ dataPoints }) => dataPoints.length > 1)
  expect(counts.map(({ descriptor, dataPoints }) => [descriptor.name, dataPoints.length])).toEqual([
    ['messaging.process.duration', 101],
    ['justonce.processed', 101],
  ])
})

/** https://opentelemetry.io/docs/specs/otel/compatibility/prometheus_and_openmetrics/ */
test.each([...Object.entries(processMetrics), ...Object.entries(storeMetrics)])(
  'Prometheus makes %s of its instrument',
  (name, { type }) => {
    const unit = /_seconds(_total)?$/.test(name)
      ? '_seconds'
      : name.endsWith('_bytes')
        ? '_bytes'
        : type === 'gauge' && name.endsWith('_ratio')
          ? '_ratio'
          : ''
    const plain = instrumentName(name)
      .replaceAll('.', '_')
      .replace(/_total$/, '')
    expect(`${plain}${unit}${type === 'counter' ? '_total' : ''}`).toBe(name)
  },
)

test('no two instruments have one name', () => {
  const names = [...Object.keys(processMetrics), ...Object.keys(storeMetrics)].map(instrumentName)
  expect(new Set(names).size).toBe(names.length)
})

test('an API without metrics is refused in words', () => {
  const { app } = open()
  const { metrics: _, ...without } = api
  expect(() => openTelemetry(without).measure(app)).toThrow(/pass the whole module/)
})
