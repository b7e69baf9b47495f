import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bornOfId } from './born.ts'
import { uuidv7 } from './uuid-v7.ts'

describe('the time of an id', () => {
  // From RFC 9562, the ULID specification and the KSUID readme.
  test.each([
    ['uuidv7', '017F22E2-79B0-7CC3-98C4-DC0C0C07398F', '2022-02-22T19:22:22.000Z'],
    ['uuidv7', '017f22e2-79b0-7cc3-98c4-dc0c0c07398f', '2022-02-22T19:22:22.000Z'],
    ['uuidv7', '00000000-0000-7000-8000-000000000000', '1970-01-01T00:00:00.000Z'],
    ['ulid', '01ARZ3NDEKTSV4RRFFQ69G5FAV', '2016-07-30T23:54:10.259Z'],
    ['ulid', '01arz3ndektsv4rrffq69g5fav', '2016-07-30T23:54:10.259Z'],
    ['ulid', '00000000000000000000000000', '1970-01-01T00:00:00.000Z'],
    ['ulid', '7ZZZZZZZZZZZZZZZZZZZZZZZZZ', '+010889-08-02T05:31:50.655Z'],
    ['ksuid', '0ujtsYcgvSTl8PAuAdqWYSMnLOv', '2017-10-10T04:00:47.000Z'],
    ['ksuid', '000000000000000000000000000', '2014-05-13T16:53:20.000Z'],
    ['ksuid', 'aWgEPTl1tmebfsQzFP4bxwgy80V', '2150-06-19T23:21:35.000Z'],
  ] as const)('%s %s: %s', (kind, id, born) => {
    expect(bornOfId(kind, id)?.toISOString()).toBe(born)
  })

  test.each([
    ['uuidv7', ''],
    ['uuidv7', '017f22e2-79b0-4cc3-98c4-dc0c0c07398f'],
    ['uuidv7', '017f22e2-79b0-7cc3-18c4-dc0c0c07398f'],
    ['uuidv7', '017f22e279b07cc398c4dc0c0c07398f'],
    ['uuidv7', '017f22e2-79b0-7cc3-98c4-dc0c0c07398f\n'],
    ['uuidv7', ' 017f22e2-79b0-7cc3-98c4-dc0c0c07398f'],
    ['uuidv7', '01ARZ3NDEKTSV4RRFFQ69G5FAV'],
    ['ulid', '8ZZZZZZZZZZZZZZZZZZZZZZZZZ'],
    ['ulid', '01ARZ3NDEKTSV4RRFFQ69G5FAU'],
    ['ulid', '01ARZ3NDEKTSV4RRFFQ69G5FA'],
    ['ulid', '01ARZ3NDEKTSV4RRFFQ69G5FAV0'],
    ['ksuid', 'aWgEPTl1tmebfsQzFP4bxwgy80W'],
    ['ksuid', '0ujtsYcgvSTl8PAuAdqWYSMnLO'],
    ['ksuid', '0ujtsYcgvSTl8PAuAdqWYSMnL-v'],
  ] as const)('%s: %j is none of them', (kind, id) => {
    expect(bornOfId(kind, id)).toBeUndefined()
  })

  test('is what it was made with, for every id that uuidv7() makes', () => {
    let latest = 0
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 44 }), (ms) => {
        // Ids of one process only grow, so an earlier time is not in them.
        latest = Math.max(latest, ms)
        expect(bornOfId('uuidv7', uuidv7(latest))).toEqual(new Date(latest))
      }),
    )
  })

  test('sorts as the ids do', () => {
    const hex = fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 12, maxLength: 12 })
    const id = hex.map((time) => `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`)
    fc.assert(
      fc.property(id, id, (a, b) => {
        const [one, other] = [bornOfId('uuidv7', a), bornOfId('uuidv7', b)] as [Date, Date]
        expect(Math.sign(one.getTime() - other.getTime())).toBe(a < b ? -1 : a > b ? 1 : 0)
      }),
    )
  })

  test('never throws, and is a valid date or nothing', () => {
    const kinds = fc.constantFrom('uuidv7', 'ulid', 'ksuid')
    fc.assert(
      fc.property(kinds, fc.string({ maxLength: 40 }), (kind, text) => {
        const born = bornOfId(kind, text)
        expect(born === undefined || !Number.isNaN(born.getTime())).toBe(true)
      }),
    )
  })
})
