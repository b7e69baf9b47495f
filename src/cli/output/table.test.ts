import { expect, test } from 'vitest'
import { table } from './table.ts'

const rows = [
  { key: 'k'.repeat(60), count: 7, error: 'x'.repeat(90) },
  { key: 'short', count: 12_345, error: 'a\u001b[2Jb\r\nc\u202ed' },
]
const columns = [
  { title: 'key', of: ({ key }: (typeof rows)[number]) => key, cut: true },
  { title: 'count', of: ({ count }: (typeof rows)[number]) => count },
  { title: 'error', of: ({ error }: (typeof rows)[number]) => error, cut: true },
]

test.for([40, 80, 120])('a table fits a terminal of %i columns, and cuts only what may be cut', (width) => {
  const lines = table(rows, columns, { isTTY: true, columns: width, write() {} })
    .trimEnd()
    .split('\n')
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(width)
  expect(lines[1]).toContain('…')
  expect(lines[2]).toContain('12345')
})

test('where there is no room, what can be said in fewer characters is, and what can be spared is left out', () => {
  const timed = [
    ...columns,
    { title: 'at', of: () => '2030-01-01 00:00:00Z', short: () => '2m ago' },
    { title: 'type', of: () => 'order.paid', cut: true, spare: true },
  ]
  const headOf = (width: number): readonly string[] => {
    const text = table(rows, timed, { isTTY: true, columns: width, write() {} })
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(width)
    return [text.split('\n')[0]?.split(/ +/).join(' ') ?? '', /2m ago|2030/.exec(text)?.[0] ?? '']
  }
  expect(headOf(240)).toEqual(['KEY COUNT ERROR AT TYPE', '2030'])
  expect(headOf(120)).toEqual(['KEY COUNT ERROR AT TYPE', '2m ago'])
  expect(headOf(50)).toEqual(['KEY COUNT ERROR AT', '2m ago'])
})

test('in a pipe nothing is cut, and nothing but text gets through', () => {
  const lines = table(rows, columns, { write() {} })
    .trimEnd()
    .split('\n')
  expect(lines).toHaveLength(3)
  expect(lines[1]).toContain('x'.repeat(90))
  expect(lines[2]).toContain('a�[2Jb c�d')
})

test('wide characters take two columns, and are never cut in half', () => {
  const lines = table(
    [{ key: '😀'.repeat(30) }, { key: '订单'.repeat(20) }, { key: 'a'.repeat(40) }],
    [
      { title: 'key', of: ({ key }) => key, cut: true },
      { title: 'n', of: () => 1 },
    ],
    { isTTY: true, columns: 24, write() {} },
  )
    .trimEnd()
    .split('\n')
  expect(lines.slice(1)).toEqual([`${'😀'.repeat(10)}…  1`, `${'订单'.repeat(5)}…  1`, `${'a'.repeat(20)}…  1`])
  expect(lines.join('').isWellFormed()).toBe(true)
})
