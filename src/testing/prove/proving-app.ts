import { decideHandler } from '../../app/decide-handler.ts'
import type { AnyHandlerOptions, HandlerOptions } from '../../app/handler-options.ts'
import type { Handlers } from '../../app/handlers.ts'
import { justonce } from '../../app/justonce.ts'
import type { App } from '../../app/types.ts'
import type { Message, Store, Transport } from '../../contracts/index.ts'
import type { Handler, RunContext } from '../../engine/handler.ts'
import { publishEach } from '../../engine/publishing/publish-each.ts'
import { JustonceError, PermanentError } from '../../errors/index.ts'
import type { Effects } from '../../intents/effects.ts'
import type { Execution } from './execution.ts'
import type { Gate } from './gate.ts'
import type { GatedStore } from './gated-store.ts'
import { currentInside, runInside, runOutside } from './inside-handler.ts'
import type { Life } from './life.ts'
import { isNeighbour } from './neighbour.ts'
import { pinsFor } from './pins.ts'
import { placeOf } from './place.ts'
import type { ProcessParts } from './process.ts'

export interface AppParts<S extends Store> extends ProcessParts<S> {
  readonly gate: Gate
  readonly life: Life
  readonly gated: GatedStore<S>
  readonly handlers: Handlers
  readonly effects: Effects
}

type Call = Handler['call']

/** The app that `register` is given. It accepts handlers as the real app does, and wraps each of them. */
export function provingApp<S extends Store>(parts: AppParts<S>): App<S, Record<string, unknown>> {
  const { handlers, effects, gated, options } = parts
  const real = justonce<S, Record<string, unknown>>({ ...options.app, store: gated.store, transport: bareTransport })
  const add = (type: string, given: string | AnyHandlerOptions, call: Call): void => {
    const named = typeof given === 'string' ? { name: given } : given
    // A handler that loses messages by design cannot be proven not to, and one without a transaction has its effects elsewhere.
    if (named.delivery === 'at-most-once' || named.transaction === 'none') {
      const why =
        named.delivery === 'at-most-once'
          ? 'is at-most-once: a crash loses its effect by design'
          : 'has no transaction: its effects are not in your tables'
      parts.journal.leftOut.set(named.name, why)
      return
    }
    const handler = decideHandler(type, sparingNeighbours(named), handlers.countOf(type), call)
    if (handler.interleave) parts.journal.interleaving.add(handler.name)
    handlers.add({ ...handler, call: watched(parts, handler) })
  }
  return {
    ...real,
    on(type, given, run) {
      real.on(type, given as HandlerOptions, run as never)
      add(type, given as string | AnyHandlerOptions, { kind: 'each', run: run as never })
    },
    onBatch(type, given, run) {
      real.onBatch(type, given, run)
      add(type, given as string | AnyHandlerOptions, { kind: 'batch', run: run as never })
    },
    effect(name, given) {
      real.effect(name, given)
      // What a handler intends is its effect. The call itself is not made: it belongs to no handler, and cannot be undone.
      effects.addElsewhere(name)
    },
    start: refused,
    stop: refused,
    deliver: refused,
  }
}

async function refused(): Promise<never> {
  throw new JustonceError('OPTION_INVALID', {
    message: 'register(app) must only register handlers: prove() starts, stops and delivers by itself.',
  })
}

function watched<S extends Store>(parts: AppParts<S>, handler: Handler): Call {
  const { call } = handler
  if (call.kind === 'each')
    return {
      kind: 'each',
      run: (message, context) => around(parts, handler, [message], context, (own) => call.run(message, own)),
    }
  return {
    kind: 'batch',
    run: (messages, context) => around(parts, handler, messages, context, (own) => call.run(messages, own)),
  }
}

async function around<S extends Store>(
  { gated, gate, journal, pins, number, copy, called }: AppParts<S>,
  { name, delivery }: Handler,
  messages: readonly Message[],
  context: RunContext<unknown>,
  run: (context: RunContext<unknown>) => unknown,
): Promise<unknown> {
  if (messages.some(({ id }) => isNeighbour(id))) throw new PermanentError('The neighbour fails, as it should.')
  const execution = gated.executionOf(context.tx)
  const messageId = messages[0]?.id ?? ''
  if (execution !== undefined) execution.message = messageId
  for (const { id } of messages) journal.runs(id, name, delivery)
  const inside = {
    handler: name,
    messageId,
    database: copy.place.url,
    pins: pinsFor(pins, `${name} ${messageId}`),
    reads: journal.reads,
    leaves(call: {
      kind: 'fetch' | 'request' | 'child process' | 'socket' | 'publish'
      what: string
      isHarmless: boolean
    }) {
      const outside = { handler: name, messageId, place: placeOf(new Error()), ...call }
      // Such a handler promises only at-least-once, for calls as for everything else.
      if (delivery !== 'exactly-once') return outside
      journal.outsideCalls.push(outside)
      journal.add(number, 'outside', `${call.kind}  ${call.what}`)
      return outside
    },
  }
  called(messageId, 'begins')
  try {
    const value = await runInside(inside, async () => run(watchedContext(context, gate, name, execution)))
    execution?.settled('resolved')
    return value
  } catch (error) {
    execution?.settled('rejected', error)
    throw error
  } finally {
    called(messageId, 'settles')
  }
}

function watchedContext(
  context: RunContext<unknown>,
  gate: Gate,
  handler: string,
  execution: Execution | undefined,
): RunContext<unknown> {
  const publish: typeof context.publish = (type, body, options) => {
    // The id and the time of a published message come from the engine and are not an effect of the handler.
    const run = (): Promise<string> => runOutside(() => context.publish(type, body, options))
    execution?.prepares(`publish('${type}', …)`)
    return gate.pass<string>({
      step: { kind: 'publish', text: type, handler },
      content: [body, options],
      run,
      fail: run,
    })
  }
  return {
    tx: context.tx,
    attempt: context.attempt,
    get signal() {
      return context.signal
    },
    publish,
    publishAll: async (messages) => await publishEach(publish, messages),
    intend(effect, payload, options) {
      const run = (): Promise<string> => runOutside(() => context.intend(effect, payload, options))
      execution?.prepares(`intend('${effect}', …)`)
      return gate.pass<string>({
        step: { kind: 'intend', text: effect, handler },
        content: [payload, options],
        run,
        fail: run,
      })
    },
    afterCommit(work) {
      execution?.prepares('afterCommit(…)')
      context.afterCommit(work)
    },
  }
}

/** A neighbour has the same body as its message, and must not be identified as that message. */
function sparingNeighbours(options: AnyHandlerOptions): AnyHandlerOptions {
  const { identify } = options
  if (identify === undefined) return options
  return { ...options, identify: (message) => (isNeighbour(message.id) ? message.id : identify(message)) }
}

/** For `app.publish` without `tx`: it sends at once, whether or not the transaction commits. */
export const bareTransport: Transport = {
  name: 'prove',
  destination: 'outside of the proof',
  capabilities: { order: 'none', deliveryCount: 'none' },
  async *deliveries() {},
  async settle() {},
  async publish(messages) {
    for (const { type } of messages)
      currentInside()?.leaves({ kind: 'publish', what: `app.publish('${type}', …) without tx`, isHarmless: true })
    return messages.map(() => ({ kind: 'sent' }))
  },
  async close() {},
}
