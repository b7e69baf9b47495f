import { isIntent } from '../encoding/intent-name.ts'
import { isForQueue } from '../encoding/outgoing-queue.ts'
import type { BornScheme, Handler } from '../engine/handler.ts'
import { defaultBackoff } from '../engine/recovery/backoff.ts'
import { checkChoice, checkFunction, checkNumber, checkOptions, JustonceError } from '../errors/index.ts'
import type { AnyHandlerOptions } from './handler-options.ts'
import { checkSchemeName, timelessIds, validDate } from './retention-options.ts'

const known = [
  'name',
  'delivery',
  'retry',
  'timeoutMs',
  'concurrency',
  'keepResult',
  'transaction',
  'interleave',
  'independent',
  'identify',
  'fingerprint',
  'schema',
  'ordered',
  'expires',
  'breaker',
  'born',
  'formerly',
]

/** Resolves every option of a handler, and refuses combinations that make no sense. */
export function decideHandler(
  type: string,
  options: AnyHandlerOptions,
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
  checkNumber(options.concurrency ?? 1, `concurrency of handler ${options.name}`, 1)
  checkFunction(call.run, `What handler ${options.name} is to run`)
  checkValues(options)
  return {
    name: options.name,
    type,
    step,
    delivery: options.delivery ?? 'exactly-once',
    retry,
    timeoutMs,
    concurrency: options.concurrency,
    keepResult: options.keepResult ?? false,
    transaction: decideTransaction(options, call),
    interleave: decideInterleave(options, call),
    independent: options.independent ?? false,
    identify: options.identify,
    fingerprint: options.fingerprint ?? 'body',
    schema: options.schema,
    ordered: decideOrder(options),
    expires: decideExpiry(options),
    breaker: decideBreaker(options),
    born: decideBorn(options, ids),
    formerly: options.formerly ?? [],
    call,
  }
}

function decideRetry({ name, retry = {} }: AnyHandlerOptions): Handler['retry'] {
  checkOptions(retry, ['attempts', 'backoff', 'classify'], `retry of handler ${name}`)
  const { attempts = 5, backoff = defaultBackoff, classify } = retry
  checkNumber(attempts, `retry.attempts of handler ${name}`, 1)
  checkFunction(backoff, `retry.backoff of handler ${name}`)
  if (classify !== undefined) checkFunction(classify, `retry.classify of handler ${name}`)
  return { attempts, backoff, classify }
}

/** What has a transaction or a call of its own has nothing to mix with. */
function decideInterleave(
  { name, interleave = false, transaction, delivery }: AnyHandlerOptions,
  { kind }: Handler['call'],
): boolean {
  if (typeof interleave !== 'boolean')
    throw new JustonceError('OPTION_INVALID', { message: `interleave of handler ${name} is not true or false.` })
  const isOwn = transaction === 'own' || transaction === 'none'
  const isAlone = kind === 'batch' || isOwn || delivery === 'at-most-once'
  if (!interleave || !isAlone) return interleave
  const other = kind === 'batch' ? 'onBatch' : isOwn ? `transaction: '${transaction}'` : `delivery: 'at-most-once'`
  throw new JustonceError('OPTION_INVALID', { message: `interleave of handler ${name} has no effect with ${other}.` })
}

function decideOrder({ name, ordered, delivery }: AnyHandlerOptions): Handler['ordered'] {
  if (ordered === undefined) return undefined
  checkOptions(ordered, ['by', 'whenDead', 'mostBehind'], `ordered of handler ${name}`)
  const { by, whenDead = 'block', mostBehind = 10_000 } = ordered
  checkChoice(by, `ordered.by of handler ${name}`, ['key'])
  checkChoice(whenDead, `ordered.whenDead of handler ${name}`, ['block', 'continue'])
  checkNumber(mostBehind, `ordered.mostBehind of handler ${name}`, 1)
  if (delivery === 'at-most-once') {
    const message = `ordered of handler ${name} cannot be kept with delivery: 'at-most-once'.`
    throw new JustonceError('OPTION_INVALID', { message })
  }
  return { whenDead, mostBehind }
}

/** Without a transaction there is nothing that a record, or the place in an order, could commit with. */
function decideTransaction(
  { name, transaction = 'shared', delivery = 'exactly-once', ordered }: AnyHandlerOptions,
  { kind }: Handler['call'],
): Handler['transaction'] {
  checkChoice(transaction, `transaction of handler ${name}`, ['shared', 'own', 'none'])
  if (transaction !== 'none') return transaction
  const others: readonly (readonly [is: boolean, name: string])[] = [
    [delivery === 'exactly-once', `delivery: 'exactly-once'`],
    [ordered !== undefined, 'ordered'],
    [kind === 'batch', 'onBatch'],
  ]
  const other = others.find(([is]) => is)?.[1]
  if (other === undefined) return transaction
  const message = `transaction: 'none' of handler ${name} is not possible with ${other}.`
  throw new JustonceError('OPTION_INVALID', { message })
}

function decideExpiry({ name, expires = {} }: AnyHandlerOptions): Handler['expires'] {
  checkOptions(expires, ['afterMs', 'whenLate'], `expires of handler ${name}`)
  const { afterMs, whenLate = 'skip' } = expires
  checkNumber(afterMs ?? 0, `expires.afterMs of handler ${name}`, 0)
  checkChoice(whenLate, `expires.whenLate of handler ${name}`, ['skip', 'dead-letter'])
  return { afterMs, whenLate }
}

function decideBreaker({ name, breaker = {} }: AnyHandlerOptions): Handler['breaker'] {
  if (breaker === false) return undefined
  checkOptions(breaker, ['after', 'pauseMs'], `breaker of handler ${name}`)
  const { after = 20, pauseMs = 1_000 } = breaker
  checkNumber(after, `breaker.after of handler ${name}`, 1)
  checkNumber(pauseMs, `breaker.pauseMs of handler ${name}`, 1)
  return { after, pauseMs }
}

/** The time in an id says nothing about a key that was derived from something else. */
function decideBorn({ name, identify, born }: AnyHandlerOptions, ids: BornScheme): BornScheme {
  if (born === undefined) return identify === undefined ? ids : timelessIds
  checkOptions(born, ['name', 'of'], `born of handler ${name}`)
  checkSchemeName(born.name, `born.name of handler ${name}`)
  checkFunction(born.of, `born.of of handler ${name}`)
  return { name: `born ${born.name}`, of: (message) => validDate(born.of(message)) }
}

/** If a wrong value were silently replaced, a promise would silently not hold. */
function checkValues(options: AnyHandlerOptions): void {
  const { name, delivery, identify, fingerprint, schema } = options
  const of = `of handler ${name}`
  checkChoice(delivery ?? 'exactly-once', `delivery ${of}`, ['exactly-once', 'at-least-once', 'at-most-once'])
  if (typeof fingerprint !== 'function') checkChoice(fingerprint ?? 'body', `fingerprint ${of}`, ['body', 'none'])
  if (identify !== undefined) checkFunction(identify, `identify ${of}`)
  if (schema !== undefined) checkFunction(schema?.['~standard']?.validate, `schema['~standard'].validate ${of}`)
}

function checkName(name: string): void {
  // '-' names dead letters that reached no handler; names that begin with > are for messages that could not be sent, with @
  // for messages that are delayed, and with ! for intents.
  if (
    typeof name === 'string' &&
    /^[\x20-\x7e]{1,100}$/.test(name) &&
    name.trim() === name &&
    name !== '-' &&
    !isForQueue(name) &&
    !isIntent(name)
  )
    return
  throw new JustonceError('HANDLER_NAME_INVALID', {
    message: `The handler name ${JSON.stringify(name)} cannot be used.`,
  })
}
