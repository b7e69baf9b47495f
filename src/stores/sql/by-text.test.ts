import { expect, test } from 'vitest'
import { byText } from './by-text.ts'

test('a text is read once, also if there is nothing to say about it', () => {
  const read: string[] = []
  const lengthOf = byText((sql) => {
    read.push(sql)
    return sql.length > 8 ? sql.length : undefined
  })
  expect(['select 1', 'select 10', 'select 1', 'select 10'].map(lengthOf)).toEqual([undefined, 9, undefined, 9])
  expect(read).toEqual(['select 1', 'select 10'])
})

test('texts that are always different, or long, do not accumulate', () => {
  let reads = 0
  const read = byText(() => ++reads)
  const long = ' '.repeat(5_000)
  expect([read(long), read(long)]).toEqual([1, 2])
  const first = read('select 0')
  for (let i = 1; i <= 10_000; i++) read(`select ${i}`)
  expect(read('select 0')).toBeGreaterThan(first)
})
