import type { Message } from '../contracts/index.ts'
import { defaultBackoff } from '../engine/failure-policy.ts'
import type { DeliveryMode, Handler } from '../engine/handler.ts'
import type { StandardSchema } from '../engine/standard-schema.ts'
import { checkChoice, checkFunction, checkNumber, checkOptions, JustonceError } from '../errors/index.ts'

export interface HandlerOptions<Body = unknown> {
  /** Half of the idempotency key: keep it when the code moves, and list old names in `formerly` when it must change. */
  readonly name: string
  /**
   * - `exactly-once` (default): its record commits with its effects.
   * - `at-least-once`: for naturally idempotent handlers; tx and publish, but no record and no cost.
   * - `at-most-once`: recorded and acknowledged first, then run; a crash or failure loses it.
   */
  readonly delivery?: DeliveryMode
  /** Attempts in all, and the milliseconds to wait after the nth has failed (`random` is 0 ≤ x < 1). */
  readonly retry?: { readonly attempts?: number; readonly backoff?: (failedAttempts: number, random: number) => number }
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
  /** Names this handler had before; their records still count. */
  readonly formerly?: readonly string[]
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
  'formerly',
]

/** Decides every option of a handler, and refuses what makes no sense. */
export function decideHandler(type: string, options: HandlerOptions, step: number, call: Handler['call']): Handler {
  checkOptions(options, known, `The handler of ${type}`)
  checkName(options.name)
  if (options.formerly !== undefined && !Array.isArray(options.formerly)) {
    throw new JustonceError('OPTION_INVALID', {
      message: `formerly of handler ${options.name} is not a list of names.`,
    })
  }
  for (const name of options.formerly ?? []) checkName(name)
  const retry = { attempts: options.retry?.attempts ?? 5, backoff: options.retry?.backoff ?? defaultBackoff }
  checkOptions(options.retry ?? {}, ['attempts', 'backoff'], `retry of handler ${options.name}`)
  checkNumber(retry.attempts, `retry.attempts of handler ${options.name}`, 1)
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
    formerly: options.formerly ?? [],
    call,
  }
}

/** A value that is silently taken for another one is a promise that silently does not hold. */
function checkValues({ name, delivery, transaction, identify, fingerprint, schema, retry }: HandlerOptions): void {
  const of = `of handler ${name}`
  checkChoice(delivery ?? 'exactly-once', `delivery ${of}`, ['exactly-once', 'at-least-once', 'at-most-once'])
  checkChoice(transaction ?? 'shared', `transaction ${of}`, ['shared', 'own'])
  if (typeof fingerprint !== 'function') checkChoice(fingerprint ?? 'body', `fingerprint ${of}`, ['body', 'none'])
  if (identify !== undefined) checkFunction(identify, `identify ${of}`)
  if (retry?.backoff !== undefined) checkFunction(retry.backoff, `retry.backoff ${of}`)
  if (schema !== undefined) checkFunction(schema?.['~standard']?.validate, `schema['~standard'].validate ${of}`)
}

function checkName(name: string): void {
  // '-' names dead letters that reached no handler.
  if (typeof name === 'string' && /^[\x20-\x7e]{1,100}$/.test(name) && name.trim() === name && name !== '-') return
  throw new JustonceError('HANDLER_NAME_INVALID', {
    message: `The handler name ${JSON.stringify(name)} cannot be used.`,
  })
}
