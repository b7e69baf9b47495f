import { expect, test } from 'vitest'
import { catalog } from '../../src/errors/index.ts'
import { type App, type JustonceError, justonce, type Store } from '../../src/index.ts'
import { memoryStore, memoryTransport } from '../../src/memory.ts'

function failureOf(work: () => unknown): JustonceError {
  try {
    work()
  } catch (error) {
    return error as JustonceError
  }
  throw new Error('it was not refused')
}

/** As somebody writes it who does not look at types. */
const untyped = justonce as unknown as (options?: unknown) => App<Store, Record<string, unknown>>
const openApp = (options: object = {}) => untyped({ store: memoryStore(), transport: memoryTransport(), ...options })
const on = (...given: unknown[]) => {
  const app = openApp()
  ;(app.on as (...values: unknown[]) => void)('note.created', ...given)
}
function run() {}

test.each([
  [
    'a misspelt option',
    { concurency: 2 },
    'OPTION_UNKNOWN',
    'justonce() has no option "concurency". Did you mean concurrency?',
  ],
  ['a misspelt option inside of one', { batch: { maximum: 2 } }, 'OPTION_UNKNOWN', 'batch has no option "maximum".'],
  ['no concurrency', { concurrency: 0 }, 'OPTION_INVALID', 'concurrency is 0, but must be a number of at least 1.'],
  ['a number that is text', { pollMs: '5' }, 'OPTION_INVALID', 'pollMs is 5, but must be a number'],
  ['a limit that is none', { maxBodyBytes: Number.NaN }, 'OPTION_INVALID', 'maxBodyBytes is NaN'],
  [
    'an unknown policy',
    { unknownTypes: 'ignored' },
    'OPTION_INVALID',
    'unknownTypes is "ignored". Did you mean ignore?',
  ],
  [
    'an unknown way with tables',
    { schema: 'never' },
    'OPTION_INVALID',
    'schema is "never". Known are: install, check.',
  ],
  ['a hook that is none', { beforeEach: {} }, 'OPTION_INVALID', 'beforeEach is [object Object], not a function.'],
  [
    'a codec that is text',
    { codec: 'avro' },
    'OPTION_INVALID',
    'codec is avro, but must be a codec, or codecs by type.',
  ],
  [
    'a codec that only reads',
    { codec: { decode: run } },
    'OPTION_INVALID',
    'codec.encode is undefined, not a function.',
  ],
  [
    'a codec of a type that is none',
    { codec: { 'a.b': 5 } },
    'OPTION_INVALID',
    'codec["a.b"] needs an object of options, not 5.',
  ],
  [
    'a codec with a misspelt member',
    { codec: { decode: run, encode: run, type: 'a' } },
    'OPTION_UNKNOWN',
    'codec has no option "type".',
  ],
  [
    'a codec for a pattern that is none',
    { codec: { '*.a': { decode: run, encode: run } } },
    'OPTION_INVALID',
    'codec "*.a" is neither a type nor prefix.* nor *.',
  ],
  ['two places for transports', { from: memoryTransport() }, 'OPTION_INVALID', 'short for both'],
  ['no store', { store: undefined }, 'OPTION_INVALID', 'was given no store'],
])('justonce() with %s is refused', (_, options, code, text) => {
  const error = failureOf(() => openApp(options))
  expect(error.code).toBe(code)
  expect(error.message).toContain(text)
  expect(error.message).toContain(catalog[error.code].fix)
})

test('justonce() with nothing is refused', () => {
  expect(failureOf(() => untyped()).code).toBe('OPTION_INVALID')
})

test.each([
  [
    'a misspelt option',
    { name: 'a', retries: 2 },
    'OPTION_UNKNOWN',
    'The handler of note.created has no option "retries".',
  ],
  ['a misspelt option inside of one', { name: 'a', retry: { attempt: 2 } }, 'OPTION_UNKNOWN', 'Did you mean attempts?'],
  ['no attempts', { name: 'a', retry: { attempts: 0 } }, 'OPTION_INVALID', 'retry.attempts of handler a is 0'],
  [
    'a backoff that is a number',
    { name: 'a', retry: { backoff: 5 } },
    'OPTION_INVALID',
    'retry.backoff of handler a is 5',
  ],
  [
    'no concurrency',
    { name: 'a', concurrency: 0 },
    'OPTION_INVALID',
    'concurrency of handler a is 0, but must be a number of at least 1.',
  ],
  ['no time', { name: 'a', timeoutMs: 0 }, 'OPTION_INVALID', 'timeoutMs of handler a is 0'],
  [
    'an order that is text',
    { name: 'a', ordered: 'key' },
    'OPTION_INVALID',
    'ordered of handler a needs an object of options, not key.',
  ],
  [
    'an order by nothing',
    { name: 'a', ordered: {} },
    'OPTION_INVALID',
    'ordered.by of handler a is undefined. Known are: key.',
  ],
  [
    'an order by what nobody knows',
    { name: 'a', ordered: { by: 'lane' } },
    'OPTION_INVALID',
    'ordered.by of handler a is "lane"',
  ],
  [
    'an unknown end of an order',
    { name: 'a', ordered: { by: 'key', whenDead: 'go on' } },
    'OPTION_INVALID',
    'ordered.whenDead of handler a is "go on"',
  ],
  [
    'an order that cannot be kept',
    { name: 'a', ordered: { by: 'key' }, delivery: 'at-most-once' },
    'OPTION_INVALID',
    "ordered of handler a cannot be kept with delivery: 'at-most-once'.",
  ],
  [
    'to interleave and to be alone',
    { name: 'a', interleave: true, transaction: 'own' },
    'OPTION_INVALID',
    "interleave of handler a has no effect with transaction: 'own'.",
  ],
  [
    'to interleave after the acknowledgement',
    { name: 'a', interleave: true, delivery: 'at-most-once' },
    'OPTION_INVALID',
    "interleave of handler a has no effect with delivery: 'at-most-once'.",
  ],
  [
    'to interleave, in words',
    { name: 'a', interleave: 'yes' },
    'OPTION_INVALID',
    'interleave of handler a is not true or false.',
  ],
  [
    'an expiry that is a number',
    { name: 'a', expires: 5 },
    'OPTION_INVALID',
    'expires of handler a needs an object of options, not 5.',
  ],
  [
    'an expiry in the past',
    { name: 'a', expires: { afterMs: -1 } },
    'OPTION_INVALID',
    'expires.afterMs of handler a is -1',
  ],
  [
    'an unknown end of late messages',
    { name: 'a', expires: { whenLate: 'drop' } },
    'OPTION_INVALID',
    'expires.whenLate of handler a is "drop"',
  ],
  ['an unknown delivery', { name: 'a', delivery: 'exactly_once' }, 'OPTION_INVALID', 'Did you mean exactly-once?'],
  ['an unknown transaction', { name: 'a', transaction: 'Own' }, 'OPTION_INVALID', 'Did you mean own?'],
  [
    'an unknown fingerprint',
    { name: 'a', fingerprint: 'header' },
    'OPTION_INVALID',
    'fingerprint of handler a is "header"',
  ],
  ['an identify that is none', { name: 'a', identify: 'id' }, 'OPTION_INVALID', 'identify of handler a is "id"'],
  ['a schema that is none', { name: 'a', schema: {} }, 'OPTION_INVALID', 'of handler a is undefined, not a function'],
  [
    'former names that are no list',
    { name: 'a', formerly: 'old' },
    'OPTION_INVALID',
    'formerly of handler a is not a list',
  ],
  ['its own name among its former ones', { name: 'a', formerly: ['a'] }, 'HANDLER_EXISTS', 'lists the name "a" twice'],
  ['a former name twice', { name: 'a', formerly: ['b', 'b'] }, 'HANDLER_EXISTS', 'lists the name "b" twice'],
  ['no name', {}, 'HANDLER_NAME_INVALID', 'The handler name undefined cannot be used.'],
  ['an empty name', '', 'HANDLER_NAME_INVALID', 'The handler name "" cannot be used.'],
  ['a name with NUL', 'a\0', 'HANDLER_NAME_INVALID', '"a\\u0000"'],
  ['a name of 101 characters', 'x'.repeat(101), 'HANDLER_NAME_INVALID', 'Use 1 to 100 printable characters.'],
  ['a name with a blank at its end', 'a ', 'HANDLER_NAME_INVALID', '"a "'],
  ['the name of what reached no handler', '-', 'HANDLER_NAME_INVALID', '"-"'],
  ['a former name that is none', { name: 'a', formerly: [''] }, 'HANDLER_NAME_INVALID', '""'],
  ['nothing', undefined, 'OPTION_INVALID', 'The handler of note.created needs an object of options'],
])('a handler with %s is refused', (_, options, code, text) => {
  const error = failureOf(() => on(options, run))
  expect(error.code).toBe(code)
  expect(error.message).toContain(text)
  expect(error.message).toContain(catalog[error.code].fix)
})

test('a handler without anything to run is refused at once, not at its first message', () => {
  expect(failureOf(() => on('a', undefined)).message).toContain(
    'What handler a is to run is undefined, not a function.',
  )
})

test('a name that is taken is refused, also as a former one and also for another type', () => {
  for (const second of ['a', 'old', { name: 'b', formerly: ['a'] }, { name: 'b', formerly: ['old'] }]) {
    const app = openApp()
    app.on('note.created', { name: 'a', formerly: ['old'] }, run)
    const error = failureOf(() => app.on('note.changed', second as string, run))
    expect(error.code).toBe('HANDLER_EXISTS')
    expect(error.message).toMatch(
      /The name "(a|old)" is taken by the handler of note.created. Give each handler its own name/,
    )
    // Nothing of it has stayed behind.
    app.on('note.changed', 'b', run)
  }
})

test('a store that only leases refuses an exactly-once handler, and takes the others', () => {
  const store = { ...memoryStore(), name: 'redis', guarantee: 'lease' as const }
  const app = justonce({ store, transport: memoryTransport() })
  const error = failureOf(() => app.on('note.created', 'tag-note', run))
  expect(error.code).toBe('GUARANTEE_TOO_WEAK')
  expect(error.message).toContain('Handler tag-note is exactly-once, but the guarantee of redis is only a lease')
  expect(error.message).toContain("set delivery: 'at-least-once'")
  app.on('note.created', { name: 'tag-note', delivery: 'at-least-once' }, run)
})

test('a pool that is too small is refused at the start', async () => {
  const store = { ...memoryStore(), capabilities: { revocable: true, connections: 4 } }
  const app = justonce({ store, transport: memoryTransport(), concurrency: 4 })
  app.on('note.created', 'tag-note', run)
  await expect(app.start()).rejects.toMatchObject({
    code: 'POOL_TOO_SMALL',
    message: expect.stringContaining('has 4 connections; 1 transports with concurrency 4 need 5.'),
  })
})

test.each([
  ['no transport', { transport: undefined }, true, 'it has no transport, neither from nor to, and no effect'],
  [
    'no transport among several',
    { transport: undefined, from: {} },
    true,
    'it has no transport, neither from nor to, and no effect',
  ],
  ['no handler', {}, false, 'it has no handler'],
])('an app with %s cannot be started', async (_, options, hasHandler, why) => {
  const app = openApp(options)
  if (hasHandler) app.on('note.created', 'tag-note', run)
  await expect(app.start()).rejects.toMatchObject({
    code: 'APP_NOT_STARTABLE',
    message: expect.stringContaining(`The app cannot be started: ${why}.`),
  })
})
