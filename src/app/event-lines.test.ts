import { expect, test } from 'vitest'
import { lineOf, onOneLine } from './event-lines.ts'

test('what an id or an error brings stays on its line, in its order and within its length', () => {
  expect(onOneLine('a\u001b[31mb\r\nc\u2028d\u202ee\u2066f\u009bg', 100)).toBe('a [31mb c d e f g')
  const line = lineOf({
    ...{ kind: 'parked', handler: 'tag-note', key: 'x'.repeat(5_000), attempts: 1 },
    ...{ state: 'dead', reason: 'HANDLER_FAILED', error: new Error(`${'y'.repeat(10_000_000)}\nforged`) },
  } as Parameters<typeof lineOf>[0])
  expect(line?.length).toBeLessThan(6_000)
  expect(onOneLine(line as string, 1_000)).toHaveLength(1_001)
})

test('errors that are no errors, whose texts cannot be had, or that cause themselves still have a line', () => {
  const circular = new Error('outer')
  circular.cause = circular
  const hostile = [
    circular,
    undefined,
    null,
    Object.create(null),
    Symbol('s'),
    new Proxy(
      {},
      {
        get: () => {
          throw new Error('no')
        },
      },
    ),
  ]
  for (const error of hostile)
    expect(lineOf({ kind: 'store-down', error } as Parameters<typeof lineOf>[0])).toContain('the store is away')
})
