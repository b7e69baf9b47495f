import { defaultBackoff } from '../engine/recovery/backoff.ts'
import { checkChoice, checkFlag, checkFunction, checkNumber, checkOptions, JustonceError } from '../errors/index.ts'
import type { Effect, EffectOptions, ElsewhereOptions, Remedy } from './effect.ts'

const known = [
  'run',
  'keyed',
  'probe',
  'retry',
  'timeoutMs',
  'settleMs',
  'unknown',
  'concurrency',
  'perSecond',
  'breaker',
  'announce',
]

export const defaultTimeoutMs = 30_000
export const defaultSettleMs = 30_000

/** A day: a longer call would keep its intent from being noticed for longer than anyone waits. */
const longestTimeoutMs = 86_400_000

/** Resolves every option of an effect, and refuses what makes no sense. */
export function decideEffect(name: string, options: EffectOptions): Effect {
  checkEffectName(name)
  const of = `of effect ${name}`
  checkOptions(options, known, `The effect ${name}`)
  const { run, probe, timeoutMs = defaultTimeoutMs, settleMs = defaultSettleMs, concurrency, perSecond } = options
  checkFunction(run, `run ${of}`)
  if (probe !== undefined) checkFunction(probe, `probe ${of}`)
  for (const flag of ['keyed', 'announce'] as const) checkFlag(options[flag], `${flag} ${of}`)
  checkNumber(timeoutMs, `timeoutMs ${of}`, 1, longestTimeoutMs)
  checkNumber(settleMs, `settleMs ${of}`, 0, longestTimeoutMs)
  checkNumber(concurrency ?? 1, `concurrency ${of}`, 1, 1_000)
  if (!Number.isInteger(concurrency ?? 1))
    throw new JustonceError('OPTION_INVALID', { message: `concurrency ${of} is ${concurrency}, not a whole number.` })
  checkNumber(perSecond ?? 1, `perSecond ${of}`, 1e-5, 100_000)
  if (probe !== undefined && options.keyed)
    throw new JustonceError('OPTION_INVALID', {
      message: `probe ${of} has no effect with keyed: a call with an idempotency key is repeated without asking. With probe alone, run may pass the key on as well.`,
    })
  const lastRemedy = decideLastRemedy(options, of)
  return {
    name,
    run: run as Effect['run'],
    probe: probe as Effect['probe'],
    remedy: probe === undefined ? lastRemedy : 'probe',
    lastRemedy,
    retry: decideRetry(options, of),
    timeoutMs,
    settleMs,
    concurrency,
    perSecond,
    breaker: decideBreaker(options, of),
    announce: options.announce,
  }
}

function decideLastRemedy({ keyed = false, unknown }: EffectOptions, of: string): Exclude<Remedy, 'probe'> {
  checkChoice(unknown ?? 'wait', `unknown ${of}`, ['wait', 'repeat', 'discard'])
  if (!keyed) return unknown ?? 'wait'
  if (unknown === undefined) return 'repeat'
  throw new JustonceError('OPTION_INVALID', {
    message: `unknown ${of} has no effect with keyed: a call with an idempotency key is repeated.`,
  })
}

function decideRetry({ retry = {} }: EffectOptions, of: string): Effect['retry'] {
  checkOptions(retry, ['attempts', 'backoff', 'classify'], `retry ${of}`)
  const { attempts = 10, backoff = defaultBackoff, classify } = retry
  checkNumber(attempts, `retry.attempts ${of}`, 1)
  checkFunction(backoff, `retry.backoff ${of}`)
  if (classify !== undefined) checkFunction(classify, `retry.classify ${of}`)
  return { attempts, backoff, classify }
}

function decideBreaker({ breaker = {} }: EffectOptions, of: string): Effect['breaker'] {
  if (breaker === false) return undefined
  checkOptions(breaker, ['after', 'pauseMs'], `breaker ${of}`)
  const { after = 5, pauseMs = 1_000 } = breaker
  checkNumber(after, `breaker.after ${of}`, 1)
  checkNumber(pauseMs, `breaker.pauseMs ${of}`, 1)
  return { after, pauseMs }
}

/** Whether only the name is declared, because another app makes the calls. */
export function isElsewhere(name: string, given: EffectOptions | ElsewhereOptions): given is ElsewhereOptions {
  if (typeof given !== 'object' || given === null || !('elsewhere' in given)) return false
  checkEffectName(name)
  checkOptions(given, ['elsewhere'], `The effect ${name}, which is run elsewhere,`)
  checkFlag(given.elsewhere, `elsewhere of effect ${name}`)
  return given.elsewhere
}

export function checkEffectName(name: string): void {
  if (typeof name === 'string' && /^[\x20-\x7e]{1,99}$/.test(name) && name.trim() === name) return
  throw new JustonceError('OPTION_INVALID', {
    message: `The effect name ${JSON.stringify(name)} cannot be used: it needs 1 to 99 printable characters.`,
  })
}
