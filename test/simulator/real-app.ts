import type { Transport } from '../../src/contracts/index.ts'
import { type App, effects, justonce, messages, type RetentionOptions } from '../../src/index.ts'
import { queueTransport } from '../../src/transports/queue/index.ts'
import { attempts, behave, behaveOutside, type Done, effect, type Order } from './handlers.ts'
import { queueName } from './inside.ts'
import { type EffectKind, effectKinds, effectOf, type Wish } from './intending.ts'
import type { SimProcess } from './process.ts'
import type { RetentionPlan } from './retained.ts'
import type { Scenario } from './scenario.ts'
import type { SimTx } from './store/sim-tx.ts'
import { timedIds } from './timed-ids.ts'
import type { Program } from './world.ts'

/** Of the schedule that processes have in some worlds. */
export const tickMs = 4_000

/** The real engine and consumer, as a user would set them up. */
export const realApp: Program = (environment) => runApp(environment, ['one'])

/** The same by somebody who has not said what the renamed handler was called before. */
export const forgetfulApp: Program = (environment) => runApp(environment, [])

function runApp(
  { process, store, hints, transport, way, scenario, misbehaved, index, tookEffect }: Parameters<Program>[0],
  formerly: readonly string[],
): void {
  const { retention } = scenario
  const days = retention?.days[index]
  const withQueue = store as typeof store & Required<Pick<typeof store, 'queue'>>
  const isInside = scenario.shape === 'database'
  const app = justonce({
    log: false,
    store: withQueue,
    // What is simulated is the work on messages: a heartbeat changes nothing of it, and would only take time.
    heartbeat: false,
    ...(hints && { hints }),
    ...(isInside ? insideWays(withQueue, process, transport, scenario) : { transport }),
    clock: process.clock,
    concurrency: scenario.concurrency,
    batch: { max: scenario.batchMax, budgetMs: scenario.budgetMs },
    ...(retention && { ids: timedIds }),
    ...(retention && days !== undefined && { retention: retentionOptions(retention, days) }),
    messages: messages<{
      single: Order
      double: Order
      bulk: Order
      ordered: Order
      sick: Order
      done: Done
      told: Done
    }>(),
    effects: effects<Record<EffectKind, Wish>>(),
  })
  const options = {
    timeoutMs: 2_000,
    retry: { attempts, backoff: (attempt: number) => attempt * 3_000 },
    breaker: { after: 4, pauseMs: 500 },
  }
  const history = { misbehaved, mendedAt: scenario.mendedAt }
  // A broker that shuffles cannot keep an order, and then nobody may ask for one.
  const order =
    !isInside && transport.capabilities.order === 'none'
      ? {}
      : ({ ordered: { by: 'key', whenDead: scenario.whenDead } } as const)
  const isNew = scenario.deployAt !== undefined && process.clock.monotonicMs() >= scenario.deployAt
  for (const [type, name] of [
    ['single', 'one'],
    ['double', isNew ? 'added' : 'first'],
    ['double', 'second'],
    ['ordered', 'line'],
  ] as const) {
    // A deploy renames this one; its effects keep their name, so that it can be seen whether they happened before.
    const named = name === 'one' && isNew ? { name: 'uno', formerly } : { name }
    if (scenario.outside && name === 'first') {
      const outside = { delivery: 'at-least-once', transaction: 'none' } as const
      app.on(type, { name, ...options, ...outside }, async (message, { publish }) => {
        await publish(
          'done',
          { of: message.id, by: name, behaviour: message.body.behaviour },
          delayOf(scenario, message),
        )
        await behaveOutside((work) => store.transaction(work), name, message, process, history)
      })
      continue
    }
    const delivery = scenario.loose && name === 'first' ? ({ delivery: 'at-least-once' } as const) : {}
    app.on(
      type,
      { ...named, ...options, ...(type === 'ordered' && order), ...delivery, interleave: scenario.interleave },
      async (message, { tx, publish, intend, afterCommit }) => {
        if (message.id.endsWith('3')) afterCommit(() => new Promise(() => {}))
        const done = { of: message.id, by: name, behaviour: message.body.behaviour }
        const key = name === 'line' ? { key: message.key ?? 'none' } : {}
        await publish('done', done, { ...delayOf(scenario, message), ...key })
        if (scenario.intents && name === 'one')
          for (const kind of effectKinds)
            await intend(kind, { of: message.id }, kind === 'named' ? { key: `of ${message.key ?? message.id}` } : {})
        await behave(tx, name, message, process, history)
      },
    )
  }
  if (scenario.intents) {
    for (const kind of effectKinds) app.effect(kind, effectOf(kind, way))
    app.on('intent.done:keyed', { name: 'told', ...options }, async ({ body: { payload }, ...message }, { tx }) => {
      await effect(tx, 'told', { ...message, id: payload.of, body: { behaviour: 'good' } })
    })
  }
  app.on('sick', { name: 'sick', ...options, interleave: scenario.interleave }, async (message, { tx, publish }) => {
    if (process.clock.monotonicMs() < (scenario.sickUntil ?? 0)) throw new Error('fails on everything')
    const done = { of: message.id, by: 'sick', behaviour: message.body.behaviour }
    await publish('done', done, delayOf(scenario, message))
    await behave(tx, 'sick', message, process, history)
  })
  app.onBatch('bulk', { name: 'bulk', ...options }, async (all, { tx, publish }) => {
    for (const message of all) {
      const done = { of: message.id, by: 'bulk', behaviour: message.body.behaviour }
      await publish('done', done, delayOf(scenario, message))
      await behave(tx, 'bulk', message, process, history)
    }
  })
  // What comes back through the queue of the same database: the second handler of a chain.
  if (isInside)
    app.on(
      'done',
      { name: 'chain', ...options, ordered: { by: 'key', whenDead: 'block' }, interleave: scenario.interleave },
      async (message, { tx, publish }) => {
        const { of, by } = message.body
        await publish('told', message.body, message.key === undefined ? {} : { key: message.key })
        await behave(tx, 'chain', { ...message, id: `${by}|${of}` }, process, history)
      },
    )
  const tick = {
    everyMs: tickMs,
    type: 'done',
    body: { of: 'tick', by: 'schedule', behaviour: 'good' },
    missed: 'all',
  } as const
  if (scenario.ticks) app.schedule('tick', tick)
  // A store that is away at the start: the one who started the process tries again.
  const start = () => void app.start().catch(() => process.clock.timer(500, start))
  start()
  if (scenario.mendedAt !== undefined) {
    const tidyUp = retention === undefined ? async () => {} : () => giveUpWhatHasRun(app, tookEffect)
    redriveNowAndThen(app, process, scenario.mendedAt, tidyUp)
  }
}

/** Some leave at once, too. */
function delayOf({ delays }: Scenario, { id }: { readonly id: string }): { readonly delayMs?: number } {
  const sum = [...id].reduce((total, letter) => total + letter.charCodeAt(0), 0)
  return delays ? { delayMs: [0, 700, 2_500, 6_000][sum % 4] as number } : {}
}

/** Messages come from the database itself, and what handlers publish goes there, too, and only from there to a broker. */
function insideWays(
  store: Parameters<typeof queueTransport<SimTx>>[0]['store'],
  process: SimProcess,
  elsewhere: Transport,
  { visibilityMs = 30_000 }: Pick<Scenario, 'visibilityMs'>,
) {
  const queue = queueTransport({ store, queue: queueName, visibilityMs, pollMs: 1_000, clock: process.clock })
  return { from: queue, to: { queue, elsewhere }, routes: { done: 'queue', told: 'elsewhere' } }
}

function retentionOptions({ tooOld, timeless }: RetentionPlan, days: number): RetentionOptions {
  return { days, tooOld, ...(timeless && { timeless: { days: 1, iAcceptReruns: true } }) }
}

/** What an operator does, with a canary the first time, whichever process is there. */
function redriveNowAndThen(
  app: Pick<App<never, object>, 'operations'>,
  process: SimProcess,
  mendedAt: number,
  tidyUp: () => Promise<void>,
): void {
  const redrive = () => {
    const canary = process.clock.random() < 0.5 ? 1 : 0
    // Nothing may be dead, or the store may be away: then the next time.
    tidyUp()
      .then(() => app.operations.letters.redrive('all', { by: 'operator', canary, perSecond: 5 }))
      .catch(() => {})
    process.clock.timer(20_000, redrive)
  }
  process.clock.timer(Math.max(0, mendedAt - process.clock.monotonicMs()), redrive)
}

/** Of what is too old to know a person knows it, or must not redrive it. */
async function giveUpWhatHasRun(
  { operations }: Pick<App<never, object>, 'operations'>,
  tookEffect: (handler: string, id: string) => boolean,
): Promise<void> {
  const letters = await operations.letters.list({ reason: 'TOO_OLD_TO_KNOW' }, { limit: 1_000 })
  const haveRun = letters.filter(({ handler, messageId }) => tookEffect(handler, messageId))
  if (haveRun.length > 0) await operations.letters.discard(haveRun, { by: 'operator' })
}
