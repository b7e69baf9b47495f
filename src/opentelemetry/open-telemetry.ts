import type { Events, JustonceEvent, Message, OutgoingMessage, Publisher, TraceContext } from '../contracts/index.ts'
import { version } from '../encoding/version.ts'
import type { ApiShape, SpanOptionsShape, SpanShape } from './api-shape.ts'
import { type Measurable, measureApp } from './measure.ts'
import { RecentSpans } from './recent-spans.ts'

/** The kinds and the status of spans, as `@opentelemetry/api` numbers them. */
const kinds = { client: 2, producer: 3, consumer: 4 } as const
const failed = 2

interface Call {
  readonly handler: string
  readonly messages: readonly Message[]
  readonly attempt: number
}

type Outside = (...given: never[]) => unknown

/** What is given to an app, and around its destinations and effects. */
export interface OpenTelemetry {
  /** For `justonce({ around })`: a span around every call of a handler, in the trace of its message. */
  readonly around: (message: Message, next: () => Promise<unknown>, call: Call) => Promise<unknown>
  /** For `justonce({ traceHeaders })`: what a handler publishes belongs to its span, through the outbox. */
  readonly traceHeaders: () => Record<string, string>
  /** Adds spans for batches and for duplicates, with links to the span that did the work if this process did it. */
  watch(app: { readonly events: Pick<Events, 'listen'> }): void
  /**
   * Measures the app by the meter of the API: what this process does, and what the store knows of all processes, which each process
   * that measures asks the store for at every reading. Returns what ends it.
   */
  measure(app: Measurable): () => void
  /** A destination with a span for each message that is sent. */
  publisher(publisher: Publisher): Publisher
  /** An effect with a span around each call and each question to the provider, as children of the handler that intended it. */
  effect<E extends { readonly run: Outside; readonly probe?: Outside }>(effect: E): E
}

/**
 * Spans and metrics by the messaging conventions of OpenTelemetry.
 *
 * ```ts
 * import * as api from '@opentelemetry/api'
 * const telemetry = openTelemetry(api)
 * const app = justonce({ store, transport, around: telemetry.around, traceHeaders: telemetry.traceHeaders })
 * telemetry.watch(app)
 * telemetry.measure(app)
 * ```
 */
export function openTelemetry(api: ApiShape): OpenTelemetry {
  const { trace, context, propagation } = api
  const tracer = trace.getTracer('justonce', version)
  const done = new RecentSpans()
  const start = (name: string, options: SpanOptionsShape, parent: unknown = context.active()): SpanShape =>
    tracer.startSpan(name, options, parent as never)
  const received = ({ headers }: Pick<Message, 'headers'>): unknown => {
    const active = context.active()
    for (const _ in headers) return propagation.extract(active as never, headers)
    return active
  }

  /** Whatever else came with the message, such as baggage, is there for the work, too. */
  async function within<T>(span: SpanShape, parent: unknown, work: () => Promise<T>): Promise<T> {
    try {
      return (await context.with(trace.setSpan(parent as never, span as never) as never, work)) as T
    } catch (error) {
      fail(span, error)
      throw error
    } finally {
      span.end()
    }
  }

  /** A call outside belongs to the trace of the handler that intended it, whichever process makes it. */
  const outside = (name: 'call' | 'probe', work: Outside) => {
    return (...given: never[]): Promise<unknown> => {
      const [{ effect, key }, { trace, attempt }] = given as unknown as Parameters<typeof describeCall>
      const parent = received({ headers: trace as Message['headers'] })
      const attributes = describeCall({ effect, key }, { trace, attempt })
      const span = start(`${name} ${effect}`, { kind: kinds.client, attributes }, parent)
      return within(span, parent, async () => await work(...given))
    }
  }

  const linksTo = (messages: readonly Message[]) =>
    messages.flatMap((each) => linkTo(trace.getSpanContext(received(each) as never)))

  return {
    async around(message, next, call) {
      const { handler, messages } = call
      const isBatch = messages.length > 1
      const parent = isBatch ? context.active() : received(message)
      const options = isBatch ? optionsOfMany(call, linksTo(messages)) : optionsOfOne(call, message)
      const span = start(`process ${handler}`, options, parent)
      const result = await within(span, parent, next)
      // A link to a span that nobody records leads nowhere.
      const it = span.spanContext()
      if (isSampled(it)) for (const { id } of messages) done.add(handler, id, it)
      return result
    },
    traceHeaders() {
      const carrier: Record<string, string> = {}
      propagation.inject(context.active() as never, carrier)
      return carrier
    },
    watch({ events }) {
      events.listen((event) => heard(event, { start, received, done }), { replacesLog: false })
    },
    measure: (app) => measureApp(api, app),
    publisher: (publisher) => ({
      destination: publisher.destination,
      dedup: publisher.dedup,
      queue: publisher.queue,
      close: () => publisher.close(),
      async publish(messages: readonly OutgoingMessage[]) {
        const sent = messages.map((message) => {
          const attributes = { ...messaging('send', publisher.destination), 'messaging.message.id': message.id }
          const span = start(`send ${publisher.destination}`, { kind: kinds.producer, attributes }, received(message))
          const carrier: Record<string, string> = {}
          propagation.inject(trace.setSpan(context.active() as never, span as never) as never, carrier)
          return { span, message: { ...message, headers: { ...message.headers, ...carrier } } }
        })
        try {
          const results = await publisher.publish(sent.map(({ message }) => message))
          for (const [place, { span }] of sent.entries()) {
            const result = results[place]
            if (result !== undefined && result.kind !== 'sent')
              fail(span, 'error' in result ? result.error : result.kind)
          }
          return results
        } catch (error) {
          for (const { span } of sent) fail(span, error)
          throw error
        } finally {
          for (const { span } of sent) span.end()
        }
      },
    }),
    effect: (effect) => ({
      ...effect,
      run: outside('call', effect.run),
      ...(effect.probe !== undefined && { probe: outside('probe', effect.probe) }),
    }),
  }
}

interface Site {
  start(name: string, options: SpanOptionsShape, parent?: unknown): SpanShape
  received(message: Pick<Message, 'headers'>): unknown
  readonly done: RecentSpans
}

function heard(event: JustonceEvent, { start, received, done }: Site): void {
  if (event.kind === 'batch') {
    const now = Date.now()
    const attributes = { ...messaging('receive'), 'messaging.batch.message_count': event.messages }
    start('receive', { kind: kinds.consumer, attributes, startTime: now - event.ms }).end(now)
  } else if (event.kind === 'duplicate') {
    const attributes = {
      ...messaging('process', event.source),
      'messaging.message.id': event.messageId,
      'justonce.handler': event.handler,
      'justonce.outcome': 'duplicate',
      'justonce.redelivered': event.redelivered,
    }
    const links = linkTo(done.of(event.handler, event.messageId))
    // A copy has the trace context of the message that was handled: they are in one trace, whichever process did the work.
    const parent = received({ headers: (event.trace ?? {}) as Message['headers'] })
    start(`duplicate ${event.handler}`, { kind: kinds.consumer, attributes, links }, parent).end()
  }
}

function isSampled({ traceFlags }: ReturnType<SpanShape['spanContext']>): boolean {
  return (traceFlags & 1) === 1
}

/** Written out: putting objects of several shapes together costs more than everything else that is done for a message. */
function optionsOfOne({ handler, attempt }: Call, { id, type, source }: Message): SpanOptionsShape {
  return {
    kind: kinds.consumer,
    attributes: {
      'messaging.system': 'justonce',
      'messaging.operation.name': 'process',
      'messaging.operation.type': 'process',
      'messaging.destination.name': source,
      'messaging.message.id': id,
      'justonce.handler': handler,
      'justonce.attempt': attempt,
      'justonce.message.type': type,
    },
  }
}

function optionsOfMany({ handler, attempt, messages }: Call, links: SpanOptionsShape['links']): SpanOptionsShape {
  const attributes = {
    ...messaging('process', messages[0]?.source),
    'messaging.batch.message_count': messages.length,
    'justonce.handler': handler,
    'justonce.attempt': attempt,
  }
  return { kind: kinds.consumer, attributes, ...(links !== undefined && { links }) }
}

function describeCall(
  { effect, key }: { readonly effect: string; readonly key: string },
  { attempt }: { readonly trace: TraceContext; readonly attempt?: number },
) {
  return {
    'justonce.effect': effect,
    'justonce.intent.key': key,
    ...(attempt !== undefined && { 'justonce.attempt': attempt }),
  }
}

function messaging(operation: 'receive' | 'process' | 'send', destination?: string) {
  return {
    'messaging.system': 'justonce',
    'messaging.operation.name': operation,
    'messaging.operation.type': operation,
    ...(destination !== undefined && { 'messaging.destination.name': destination }),
  }
}

function linkTo(span: ReturnType<RecentSpans['of']>) {
  return span === undefined ? [] : [{ context: span }]
}

function fail(span: SpanShape, error: unknown): void {
  const shown = error instanceof Error ? error : String(error)
  span.recordException(shown)
  span.setStatus({ code: failed, message: error instanceof Error ? error.message : String(error) })
}
