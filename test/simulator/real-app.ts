import { type App, justonce, messages, type RetentionOptions } from '../../src/index.ts'
import { attempts, behave, type Order } from './handlers.ts'
import type { SimProcess } from './process.ts'
import type { RetentionPlan } from './retained.ts'
import { timedIds } from './timed-ids.ts'
import type { Program } from './world.ts'

/** The real engine and consumer, as a user would set them up. */
export const realApp: Program = (environment) => runApp(environment, ['one'])

/** The same by somebody who has not said what the renamed handler was called before. */
export const forgetfulApp: Program = (environment) => runApp(environment, [])

function runApp(
  { process, store, hints, transport, scenario, misbehaved, index, tookEffect }: Parameters<Program>[0],
  formerly: readonly string[],
): void {
  const { retention } = scenario
  const days = retention?.days[index]
  const app = justonce({
    log: false,
    store: store as typeof store & Required<Pick<typeof store, 'queue'>>,
    ...(hints && { hints }),
    transport,
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
      done: { of: string; by: string }
    }>(),
  })
  const options = {
    timeoutMs: 2_000,
    retry: { attempts, backoff: (attempt: number) => attempt * 3_000 },
    breaker: { after: 4, pauseMs: 500 },
  }
  const history = { misbehaved, mendedAt: scenario.mendedAt }
  // A broker that shuffles cannot keep an order, and then nobody may ask for one.
  const order =
    transport.capabilities.order === 'none' ? {} : ({ ordered: { by: 'key', whenDead: scenario.whenDead } } as const)
  const isNew = scenario.deployAt !== undefined && process.clock.monotonicMs() >= scenario.deployAt
  for (const [type, name] of [
    ['single', 'one'],
    ['double', isNew ? 'added' : 'first'],
    ['double', 'second'],
    ['ordered', 'line'],
  ] as const) {
    // A deploy renames this one; its effects keep their name, so that it can be seen whether they happened before.
    const named = name === 'one' && isNew ? { name: 'uno', formerly } : { name }
    app.on(
      type,
      { ...named, ...options, ...(type === 'ordered' && order), interleave: scenario.interleave },
      async (message, { tx, publish, afterCommit }) => {
        if (message.id.endsWith('3')) afterCommit(() => new Promise(() => {}))
        await publish('done', { of: message.id, by: name }, name === 'line' ? { key: message.key ?? 'none' } : {})
        await behave(tx, name, message, process, history)
      },
    )
  }
  app.on('sick', { name: 'sick', ...options, interleave: scenario.interleave }, async (message, { tx, publish }) => {
    if (process.clock.monotonicMs() < (scenario.sickUntil ?? 0)) throw new Error('fails on everything')
    await publish('done', { of: message.id, by: 'sick' })
    await behave(tx, 'sick', message, process, history)
  })
  app.onBatch('bulk', { name: 'bulk', ...options }, async (all, { tx, publish }) => {
    for (const message of all) {
      await publish('done', { of: message.id, by: 'bulk' })
      await behave(tx, 'bulk', message, process, history)
    }
  })
  // A store that is away at the start: the one who started the process tries again.
  const start = () => void app.start().catch(() => process.clock.timer(500, start))
  start()
  if (scenario.mendedAt !== undefined) {
    const tidyUp = retention === undefined ? async () => {} : () => giveUpWhatHasRun(app, tookEffect)
    redriveNowAndThen(app, process, scenario.mendedAt, tidyUp)
  }
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
