import { checkFunction, checkOptions } from '../../errors/index.ts'
import { decideEffect, defaultSettleMs, defaultTimeoutMs } from '../../intents/decide-effect.ts'
import type { EffectOptions } from '../../intents/effect.ts'
import { leaseMarginMs } from '../../intents/lane.ts'
import {
  type EffectEnd,
  type EffectPromise,
  type EffectProof,
  type EffectProofRow,
  keeps,
  proofOf,
} from './effect-proof.ts'
import { disturbed, type EffectFault, effectFaults } from './faults.ts'
import { TwoProcesses } from './two-processes.ts'

/** What `proveEffect()` needs to know. */
export interface ProveEffectOptions<Payload = unknown> {
  /** What is intended. */
  readonly payload: Payload
  /** How often your provider, a fake or a sandbox, has done it since `reset`. */
  readonly happened: () => number | Promise<number>
  /** Called before each fault: the provider forgets everything. */
  readonly reset: () => unknown
}

/** Some time for pauses between attempts. */
const retriesMs = 600_000

/**
 * Makes one call under each fault: its process is killed before or after it, the call or its answer is lost, the answer is late, the
 * process is frozen. Another process goes on. Says whether it happened as often as the options of the effect promise.
 *
 * ```ts
 * const proof = await proveEffect(httpEffect({ url, keyed: true }), { payload, happened: () => mails.length, reset: () => mails.splice(0) })
 * console.log(proof.text)
 * ```
 */
export async function proveEffect<Payload = unknown, Result = unknown>(
  effect: EffectOptions<Payload, Result>,
  options: ProveEffectOptions<NoInfer<Payload>>,
): Promise<EffectProof> {
  checkOptions(options, ['payload', 'happened', 'reset'], 'proveEffect()')
  for (const each of ['happened', 'reset'] as const) checkFunction(options[each], `${each} of proveEffect()`)
  const promise = promiseOf(effect as EffectOptions)
  const rows: EffectProofRow[] = []
  for (const fault of effectFaults) {
    await options.reset()
    const ended = await endOf(effect as EffectOptions, options.payload, fault)
    const row = { fault, happened: await options.happened(), ended }
    rows.push({ ...row, holds: keeps(promise, row) })
  }
  return proofOf(promise, rows)
}

function promiseOf(effect: EffectOptions): EffectPromise {
  const { remedy, lastRemedy } = decideEffect('proved', effect)
  if (remedy === 'probe' || effect.keyed) return 'once'
  return lastRemedy === 'repeat' ? 'at least once' : 'at most once'
}

/** Of two processes on one database, the first meets the fault, and the second goes on. */
async function endOf(effect: EffectOptions, payload: unknown, fault: EffectFault): Promise<EffectEnd> {
  const [timeIsUp, thawed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const moments = { never: new Promise<never>(() => {}), timeIsUp: timeIsUp.promise, thawed: thawed.promise }
  const isKilled = fault === 'killed-before-the-call' || fault === 'killed-after-the-call'
  const isFrozen = fault === 'frozen-before-the-call'
  const world = new TwoProcesses(effect, (run) => disturbed(run, fault, moments))
  await world.begin(payload)
  if (isKilled || isFrozen) world.halt()
  const { timeoutMs = defaultTimeoutMs, settleMs = defaultSettleMs } = effect
  // So short that no call takes longer than its time because the clock was moved while it was on its way.
  const stepMs = timeoutMs / 4
  const mostMs = 20 * (timeoutMs + settleMs + leaseMarginMs) + retriesMs
  const untilItEnds = async (): Promise<EffectEnd> => {
    const until = world.passedMs + mostMs
    const leastMs = fault === 'answer-late' ? timeoutMs + 2 * stepMs : 0
    while (world.passedMs < until) {
      await world.step(stepMs)
      if (world.passedMs > timeoutMs) timeIsUp.resolve()
      const ended = await world.end()
      if (ended !== 'open' && world.passedMs > leastMs) return ended
    }
    return 'open'
  }
  let ended = await untilItEnds()
  if (isFrozen) {
    await world.thaw()
    thawed.resolve()
    ended = await untilItEnds()
  }
  await world.stop()
  return ended
}
