import { describe, expect, test } from 'vitest'
import { bytesArray, bytesIn, dateIn, numberArray, textArray, textIn } from './values-as-text.ts'

describe('array literals', () => {
  test('texts are quoted, whatever is in them', () => {
    expect(textArray([])).toBe('{}')
    expect(textArray(['a', '', 'NULL', '{}', 'a,b', '"', '\\', 'ü😀'])).toBe(
      '{"a","","NULL","{}","a,b","\\"","\\\\","ü😀"}',
    )
    expect(textArray(['a', undefined])).toBe('{"a",NULL}')
  })

  test('bytes are hexadecimal, also those of a part of a buffer', () => {
    expect(bytesArray([Uint8Array.of(0, 255), new Uint8Array(), undefined])).toBe('{"\\\\x00ff","\\\\x",NULL}')
    expect(bytesArray([Uint8Array.of(1, 2, 3, 4).subarray(1, 3)])).toBe('{"\\\\x0203"}')
  })

  test('numbers stand as they are', () => {
    expect(numberArray([1, 0.5, '9007199254740993', undefined])).toBe('{1,0.5,9007199254740993,NULL}')
  })
})

describe('what comes back', () => {
  test('is read', () => {
    expect(textIn('')).toBe('')
    expect([...bytesIn('00ff')]).toEqual([0, 255])
    expect(dateIn('1000')).toEqual(new Date(1_000))
  })

  test('is an error where nothing came', () => {
    for (const nothing of [null, undefined]) expect(() => textIn(nothing)).toThrow(TypeError)
  })
})
