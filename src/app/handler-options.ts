import type { Message } from '../contracts/index.ts'
import { defaultBackoff } from '../engine/backoff.ts'
import type { Backoff, BornScheme, DeliveryMode, Handler } from '../engine/handler.ts'
import type { StandardSchema } from '../engine/standard-schema.ts'
import { checkChoice, checkFunction, checkNumber, checkOptions, JustonceError } from '../errors/index.ts'
import { checkSchemeName, timelessIds, validDate } from './retention-options.ts'

export interface HandlerOptions<Body = unknown> {
  /** Half of the idempotency key: keep it when the code moves, and list old names in `formerly` when it must change. */
  readonly name: string
  /**
   * - `exactly-once` (default): its record commits with its effects.
   * - `at-least-once`: for naturally idempotent handlers; tx and publish, but no record and no cost.
   * - `at-most-once`: recorded and acknowledged first, then run; a crash or failure loses it.
   */
  readonly delivery?: DeliveryMode
  readonly retry?: RetryOptions
  /** The handler is cut off, and everything it did undone, after this long. 30 s if not given. */
  readonly timeoutMs?: number
  /** Keeps what the handler returns, as JSON, with its record. */
  readonly keepResult?: boolean
  /** `own`: this handler never shares a transaction with other messages. */
  readonly transaction?: 'shared' | 'own'
  /** Runs even when an earlier handler of the same message has failed. */
  readonly independent?: boolean
  /** The idempotency key, instead of the message's id. */
  readonly identify?: (message: Message<Body>) => string
  /** What must be equal under one key: the body (as canonical JSON), nothing, or what the function returns. */
  readonly fingerprint?: 'body' | 'none' | ((message: Message<Body>) => unknown)
  readonly schema?: StandardSchema<Body>
  /**
   * `key`: messages of one `key` take effect in the order of their arrival: while one waits for a retry, those behind it
   * wait too, and other keys go on. Needs a transport that delivers in order.
   */
  readonly ordered?: 'none' | 'key'
  /** With `ordered`: whether the messages behind a dead letter wait until somebody has seen to it. `block` if not given. */
  readonly whenDead?: 'block' | 'continue'
  /** A message that is older than this by its `sentAt` is not handled any more; one with an `expiresAt` has its own end. */
  readonly expiresAfterMs?: number
  /** What becomes of a message that came too late. `skip` if not given: recorded as expired and counted. */
  readonly whenExpired?: 'skip' | 'dead-letter'
  /**
   * When so many different messages in a row have failed, this handler is given no more but one now and then, until one
   * succeeds. 20 messages and 1 s before the first trial if not given; `false`: never.
   */
  readonly breaker?: { readonly after?: number; readonly pauseMs?: number } | false
  /**
   * For keys from `identify`: when the message came into being, from the same parts of it. The name stands for the way it is
   * read; change it when that changes.
   */
  readonly born?: { readonly name: string; readonly of: (message: Message<Body>) => Date | undefined }
  /** Names this handler had before; their records still count. */
  readonly formerly?: readonly string[]
}

export interface RetryOptions {
  /** Attempts in all, the first included. 5 if not given. */
  readonly attempts?: number
  /** `exponential()` if not given; or `fixed(ms)`, `none`, or a function of the attempt that failed and its error. */
  readonly backoff?: Backoff
  /** `permanent`: an error that no further attempt can mend; the message is a dead letter at once. */
  readonly classify?: (error: unknown) => 'permanent' | 'temporary'
  /**
   * Where a failed message waits. `store` (default): parked, its place among its handlers and its attempts kept for all
   * processes. `broker`: given back to a transport that can deliver it later; then a duplicate may run in the meantime.
   */
  readonly where?: 'store' | 'broker'
}

const known = [
  'name',
  'delivery',
  'retry',
  'timeoutMs',
  'keepResult',
  'transaction',
  'independent',
  'identify',
  'fingerprint',
  'schema',
  'ordered',
  'whenDead',
  'expiresAfterMs',
  'whenExpired',
  'breaker',
  'born',
  'formerly',
]

/** Decides every option of a handler, and refuses what makes no sense. */
export function decideHandler(
  type: string,
  options: HandlerOptions,
  step: number,
  call: Handler['call'],
  ids: BornScheme = timelessIds,
): Handler {
  checkOptions(options, known, `The handler of ${type}`)
  checkName(options.name)
  if (options.formerly !== undefined && !Array.isArray(options.formerly)) {
    throw new JustonceError('OPTION_INVALID', {
      message: `formerly of handler ${options.name} is not a list of names.`,
    })
  }
  for (const name of options.formerly ?? []) checkName(name)
  const retry = decideRetry(options)
  const timeoutMs = options.timeoutMs ?? 30_000
  checkNumber(timeoutMs, `timeoutMs of handler ${options.name}`, 1)
  checkFunction(call.run, `What handler ${options.name} is to run`)
  checkValues(options)
  return {
    name: options.name,
    type,
    step,
    delivery: options.delivery ?? 'exactly-once',
    retry,
    timeoutMs,
    keepResult: options.keepResult ?? false,
    transaction: options.transaction ?? 'shared',
    independent: options.independent ?? false,
    identify: options.identify,
    fingerprint: options.fingerprint ?? 'body',
    schema: options.schema,
    ordered: options.ordered ?? 'none',
    whenDead: options.whenDead ?? 'block',
    expiresAfterMs: options.expiresAfterMs,
    whenExpired: options.whenExpired ?? 'skip',
    breaker: decideBreaker(options),
    born: decideBorn(options, ids),
    formerly: options.formerly ?? [],
    call,
  }
}

function decideRetry({ name, retry = {} }: HandlerOptions): Handler['retry'] {
  checkOptions(retry, ['attempts', 'backoff', 'classify', 'where'], `retry of handler ${name}`)
  const { attempts = 5, backoff = defaultBackoff, classify, where = 'store' } = retry
  checkNumber(attempts, `retry.attempts of handler ${name}`, 1)
  checkFunction(backoff, `retry.backoff of handler ${name}`)
  if (classify !== undefined) checkFunction(classify, `retry.classify of handler ${name}`)
  checkChoice(where, `retry.where of handler ${name}`, ['store', 'broker'])
  return { attempts, backoff, classify, where }
}

function decideBreaker({ name, breaker = {} }: HandlerOptions): Handler['breaker'] {
  if (breaker === false) return undefined
  checkOptions(breaker, ['after', 'pauseMs'], `breaker of handler ${name}`)
  const { after = 20, pauseMs = 1_000 } = breaker
  checkNumber(after, `breaker.after of handler ${name}`, 1)
  checkNumber(pauseMs, `breaker.pauseMs of handler ${name}`, 1)
  return { after, pauseMs }
}

/** A time in an id says nothing about a key that was made of something else. */
function decideBorn({ name, identify, born }: HandlerOptions, ids: BornScheme): BornScheme {
  if (born === undefined) return identify === undefined ? ids : timelessIds
  checkOptions(born, ['name', 'of'], `born of handler ${name}`)
  checkSchemeName(born.name, `born.name of handler ${name}`)
  checkFunction(born.of, `born.of of handler ${name}`)
  return { name: `born ${born.name}`, of: (message) => validDate(born.of(message)) }
}

/** A value that is silently taken for another one is a promise that silently does not hold. */
function checkValues(options: HandlerOptions): void {
  const { name, delivery, transaction, identify, fingerprint, schema, ordered, retry } = options
  const of = `of handler ${name}`
  checkChoice(delivery ?? 'exactly-once', `delivery ${of}`, ['exactly-once', 'at-least-once', 'at-most-once'])
  checkChoice(transaction ?? 'shared', `transaction ${of}`, ['shared', 'own'])
  checkChoice(ordered ?? 'none', `ordered ${of}`, ['none', 'key'])
  checkChoice(options.whenDead ?? 'block', `whenDead ${of}`, ['block', 'continue'])
  checkChoice(options.whenExpired ?? 'skip', `whenExpired ${of}`, ['skip', 'dead-letter'])
  checkNumber(options.expiresAfterMs ?? 0, `expiresAfterMs ${of}`, 0)
  if (typeof fingerprint !== 'function') checkChoice(fingerprint ?? 'body', `fingerprint ${of}`, ['body', 'none'])
  if (identify !== undefined) checkFunction(identify, `identify ${of}`)
  if (schema !== undefined) checkFunction(schema?.['~standard']?.validate, `schema['~standard'].validate ${of}`)
  if (ordered === 'key' && (retry?.where === 'broker' || delivery === 'at-most-once')) {
    const what = delivery === 'at-most-once' ? "delivery: 'at-most-once'" : "retry.where: 'broker'"
    throw new JustonceError('OPTION_INVALID', { message: `ordered: 'key' ${of} cannot be kept with ${what}.` })
  }
}

function checkName(name: string): void {
  // '-' names dead letters that reached no handler.
  if (typeof name === 'string' && /^[\x20-\x7e]{1,100}$/.test(name) && name.trim() === name && name !== '-') return
  throw new JustonceError('HANDLER_NAME_INVALID', {
    message: `The handler name ${JSON.stringify(name)} cannot be used.`,
  })
}
