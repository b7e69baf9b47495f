import * as api from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } from '@opentelemetry/core'
import {
  AlwaysOnSampler,
  BasicTracerProvider,
  InMemorySpanExporter,
  ParentBasedSampler,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import type { OutgoingMessage, Publisher } from '../../src/driver.ts'
import { justonce } from '../../src/index.ts'
import { memoryStore } from '../../src/memory.ts'
import { openTelemetry } from '../../src/opentelemetry/index.ts'
import { RecentSpans } from '../../src/opentelemetry/recent-spans.ts'
import { memoryTransport } from '../../src/transports/memory/index.ts'

const exporter = new InMemorySpanExporter()
beforeAll(() => {
  api.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  api.propagation.setGlobalPropagator(new W3CTraceContextPropagator())
  api.trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }))
})
afterAll(() => api.trace.disable())
beforeEach(() => exporter.reset())

const traceId = '0af7651916cd43dd8448eb211c80319c'
const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-01` }

function open({ store = memoryStore() } = {}) {
  const telemetry = openTelemetry(api)
  const from = memoryTransport()
  const sent = Promise.withResolvers<readonly OutgoingMessage[]>()
  const publisher: Publisher = {
    destination: 'events',
    async publish(messages) {
      sent.resolve(messages)
      return messages.map(() => ({ kind: 'sent' }))
    },
    async close() {},
  }
  const { around, traceHeaders } = telemetry
  const to = { events: telemetry.publisher(publisher) }
  const app = justonce({ store, from, to, around, traceHeaders, log: false, pollMs: 10 })
  telemetry.watch(app)
  onTestFinished(() => app.stop())
  const spans = (name: string) => exporter.getFinishedSpans().filter((span) => span.name.startsWith(name))
  const handle = async (...ids: readonly string[]) => {
    from.send(ids.map((id) => ({ id, type: 'note.created', body: {}, headers })))
    await from.idle()
  }
  return { app, telemetry, sent, spans, handle }
}

test('one trace goes from the message through its handler and the outbox to what is sent', async () => {
  const { app, sent, spans, handle } = open()
  const inside: (string | undefined)[] = []
  app.on('note.created', 'tag-note', async (_, { publish }) => {
    inside.push(api.trace.getActiveSpan()?.spanContext().traceId)
    await publish('note.tagged', {})
  })
  await app.start()
  await handle('m1')
  const [arrived] = await sent.promise
  await app.stop()
  const [process] = spans('process tag-note')
  const [send] = spans('send events')
  expect(inside).toEqual([traceId])
  expect(process?.spanContext().traceId).toBe(traceId)
  expect(process?.parentSpanContext?.spanId).toBe('b7ad6b7169203331')
  expect(send?.parentSpanContext?.spanId).toBe(process?.spanContext().spanId)
  expect(arrived?.headers.traceparent).toBe(`00-${traceId}-${send?.spanContext().spanId}-01`)
  expect(process?.attributes).toMatchObject({
    'messaging.operation.type': 'process',
    'messaging.message.id': 'm1',
    'justonce.attempt': 1,
  })
  expect(spans('receive')[0]?.attributes).toMatchObject({ 'messaging.batch.message_count': 1 })
})

test('a duplicate links to the span that did the work, and a failure is an error of its span', async () => {
  const { app, spans, handle } = open()
  app.on('note.created', { name: 'tag-note', retry: { attempts: 1 } }, ({ id }) => {
    if (id === 'bad') throw new Error('no luck')
  })
  await app.start()
  await handle('m1')
  await handle('m1')
  await handle('bad')
  const worked = spans('process tag-note').find(({ attributes }) => attributes['messaging.message.id'] === 'm1')
  const [duplicate] = spans('duplicate tag-note')
  expect(duplicate?.links.map(({ context }) => context.spanId)).toEqual([worked?.spanContext().spanId])
  const failed = spans('process tag-note').find(({ attributes }) => attributes['messaging.message.id'] === 'bad')
  expect(failed?.status).toEqual({ code: api.SpanStatusCode.ERROR, message: 'no luck' })
})

test('calls and probes of an effect are in the trace of the handler that intended it, in another process, too', async () => {
  const store = memoryStore()
  const intending = open({ store })
  intending.app.effect('email.welcome', { elsewhere: true })
  intending.app.on('note.created', 'tag-note', async (_, { intend }) => void (await intend('email.welcome', {})))
  await intending.app.start()
  await intending.handle('m1')
  await intending.app.stop()
  const calling = open({ store })
  const asked = Promise.withResolvers<void>()
  const run = (): never => {
    throw new Error('no answer')
  }
  const probe = () => {
    asked.resolve()
    return { status: 'happened' as const }
  }
  calling.app.effect('email.welcome', calling.telemetry.effect({ run, probe, settleMs: 0 }))
  calling.app.on('note.created', 'tag-note', () => {})
  await calling.app.start()
  await asked.promise
  await calling.app.stop()
  const [intended] = calling.spans('process tag-note')
  const [call] = calling.spans('call email.welcome')
  const [question] = calling.spans('probe email.welcome')
  expect(call?.attributes).toMatchObject({ 'justonce.effect': 'email.welcome', 'justonce.attempt': 1 })
  expect(call?.status).toEqual({ code: api.SpanStatusCode.ERROR, message: 'no answer' })
  for (const span of [call, question]) {
    expect(span?.spanContext().traceId).toBe(traceId)
    expect(span?.parentSpanContext?.spanId).toBe(intended?.spanContext().spanId)
  }
})

test('a duplicate that another process recognises is in the trace of the span that did the work', async () => {
  const store = memoryStore()
  const spans = []
  for (const process of [open({ store }), open({ store })]) {
    process.app.on('note.created', 'tag-note', () => {})
    await process.app.start()
    await process.handle('m1')
    await process.app.stop()
    spans.push(...process.spans('duplicate tag-note'))
  }
  expect(spans).toHaveLength(1)
  expect(spans[0]?.spanContext().traceId).toBe(traceId)
  expect(spans[0]?.parentSpanContext?.spanId).toBe('b7ad6b7169203331')
})

test('baggage that came with a message is there for its handler', async () => {
  const propagation = new CompositePropagator({
    propagators: [new W3CTraceContextPropagator(), new W3CBaggagePropagator()],
  })
  const { around } = openTelemetry({
    ...api,
    propagation: {
      extract: (context: never, carrier) => propagation.extract(context, carrier, api.defaultTextMapGetter),
      inject: (context: never, carrier) => propagation.inject(context, carrier, api.defaultTextMapSetter),
    },
  })
  const message = { id: 'm1', type: 'note.created', body: {}, source: 'notes' }
  const seen: (string | undefined)[] = []
  for (const headers of [{ ...headersWith('01'), baggage: 'tenant=blue' }, {}]) {
    const call = { handler: 'tag-note', messages: [{ ...message, headers }], attempt: 1 }
    const next = async () => void seen.push(api.propagation.getActiveBaggage()?.getEntry('tenant')?.value)
    await around({ ...message, headers }, next, call)
  }
  expect(seen).toEqual(['blue', undefined])
})

test('nothing is kept of messages that are not sampled, and what they publish says so', async () => {
  const provider = new BasicTracerProvider({
    sampler: new ParentBasedSampler({ root: new AlwaysOnSampler() }),
    spanProcessors: [new SimpleSpanProcessor(exporter)],
  })
  const { around, traceHeaders } = openTelemetry({
    ...api,
    trace: {
      ...api.trace,
      getTracer: (name: string) => provider.getTracer(name),
      setSpan: api.trace.setSpan,
      getSpanContext: api.trace.getSpanContext,
    },
  } as never)
  const message = { id: 'm1', type: 'note.created', body: {}, source: 'notes', headers: headersWith('00') }
  let published: Readonly<Record<string, string>> = {}
  const next = async () => {
    published = traceHeaders()
  }
  await around(message, next, { handler: 'tag-note', messages: [message], attempt: 1 })
  expect(exporter.getFinishedSpans()).toEqual([])
  expect(published.traceparent).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`))
})

test('links are kept for the latest messages, however many there are', () => {
  const recent = new RecentSpans()
  const span = (n: number) => ({ traceId, spanId: n.toString(16).padStart(16, '0'), traceFlags: 1 })
  for (let n = 0; n < 20_001; n++) recent.add('tag-note', `m${n}`, span(n))
  expect(recent.of('tag-note', 'm0')).toBeUndefined()
  for (const n of [15_002, 20_000]) expect(recent.of('tag-note', `m${n}`)).toEqual(span(n))
  expect(recent.of('tag-not', `em20000`)).toBeUndefined()
})

function headersWith(flags: '00' | '01') {
  return { traceparent: `00-${traceId}-b7ad6b7169203331-${flags}` }
}
