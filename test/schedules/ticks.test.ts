import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isJustonceError } from '../../src/errors/index.ts'
import { parseCron } from '../../src/schedules/cron.ts'
import { latestTicks, nextTick, type Timing } from '../../src/schedules/ticks.ts'
import { timeZone } from '../../src/schedules/time-zone.ts'
import { slowTicks } from './slow-ticks.ts'

const at = (cron: string, zone = 'UTC'): Timing => ({ kind: 'cron', cron: parseCron(cron), offsetAt: timeZone(zone) })

/** The ticks from one instant on, as texts in UTC. */
function ticks(timing: Timing, from: string, count: number): string[] {
  const found: string[] = []
  for (let tick = Date.parse(from) - 1; found.length < count; ) {
    tick = nextTick(timing, tick)
    found.push(new Date(tick).toISOString().slice(0, 16))
  }
  return found
}

test.for([
  ['0 3 * * *', '2026-03-01T00:00Z', ['2026-03-01T03:00', '2026-03-02T03:00']],
  ['*/20 5 * * *', '2026-03-01T05:10Z', ['2026-03-01T05:20', '2026-03-01T05:40', '2026-03-02T05:00']],
  ['0 0 31 * *', '2026-01-31T00:01Z', ['2026-03-31T00:00', '2026-05-31T00:00', '2026-07-31T00:00']],
  ['0 0 29 2 *', '2026-01-01T00:00Z', ['2028-02-29T00:00', '2032-02-29T00:00']],
  ['0 0 29 2 *', '2096-03-01T00:00Z', ['2104-02-29T00:00']],
  // Both must fit, because the weekday begins with a star: a Sunday, 40 years after the last one because 2100 has no such day.
  ['0 0 29 2 */7', '2088-03-01T00:00Z', ['2128-02-29T00:00', '2156-02-29T00:00']],
  ['30 8 * * mon-fri', '2026-11-20T09:00Z', ['2026-11-23T08:30', '2026-11-24T08:30']],
  [
    '0 0 13 * fri',
    '2026-11-12T12:00Z',
    ['2026-11-13T00:00', '2026-11-20T00:00', '2026-11-27T00:00', '2026-12-04T00:00'],
  ],
  ['0 12 * JAN,jul sun', '2026-06-30T00:00Z', ['2026-07-05T12:00', '2026-07-12T12:00']],
  ['0 0 * * 7', '2026-11-18T00:00Z', ['2026-11-22T00:00']],
  ['5/30 1-3/2 1 * *', '2026-11-01T00:00Z', ['2026-11-01T01:05', '2026-11-01T01:35', '2026-11-01T03:05']],
  ['@daily', '2026-12-31T12:00Z', ['2027-01-01T00:00']],
  ['@weekly', '2026-11-18T00:00Z', ['2026-11-22T00:00']],
  ['@yearly', '2026-11-18T00:00Z', ['2027-01-01T00:00']],
] as const)('%s from %s on', ([cron, from, expected]) => {
  expect(ticks(at(cron), from, expected.length)).toEqual(expected)
})

describe('daylight saving', () => {
  test('a time that clocks skip comes as much later as they are put forward, on that day alone', () => {
    expect(ticks(at('30 2 * * *', 'Europe/Berlin'), '2026-03-28T00:00Z', 3)).toEqual([
      '2026-03-28T01:30',
      '2026-03-29T01:30',
      '2026-03-30T00:30',
    ])
  })

  test('a time that clocks show twice comes the first time', () => {
    expect(ticks(at('30 2 * * *', 'Europe/Berlin'), '2026-10-24T00:00Z', 3)).toEqual([
      '2026-10-24T00:30',
      '2026-10-25T00:30',
      '2026-10-26T01:30',
    ])
  })

  test('what comes in every hour comes in every hour that passes, whatever clocks show', () => {
    for (const from of ['2026-03-29T00:00Z', '2026-10-25T00:00Z'])
      expect(ticks(at('15 * * * *', 'Europe/Berlin'), from, 4)).toEqual(
        [0, 1, 2, 3].map((hour) => `${from.slice(0, 10)}T0${hour}:15`),
      )
  })

  test('half an hour in Lord Howe, midnight in Beirut, and a day that Samoa left out', () => {
    expect(ticks(at('15 2 * * *', 'Australia/Lord_Howe'), '2026-10-03T00:00Z', 2)).toEqual([
      '2026-10-03T15:45',
      '2026-10-04T15:15',
    ])
    expect(ticks(at('0 0 * * *', 'Asia/Beirut'), '2026-03-27T23:00Z', 2)).toEqual([
      '2026-03-28T22:00',
      '2026-03-29T21:00',
    ])
    expect(ticks(at('0 9 * * *', 'Pacific/Apia'), '2011-12-29T00:00Z', 3)).toEqual([
      '2011-12-29T19:00',
      '2011-12-30T19:00',
      '2011-12-31T19:00',
    ])
  })
})

test('the same ticks as one who looks at every minute of the clock', () => {
  const zone = fc.constantFrom(
    'UTC',
    'Europe/Berlin',
    'America/New_York',
    'Australia/Lord_Howe',
    'America/Sao_Paulo',
    'Asia/Kolkata',
    'Africa/Casablanca',
    'Asia/Beirut',
  )
  const list = (from: number, to: number) =>
    fc.oneof(
      fc.constant('*'),
      fc.integer({ min: 2, max: Math.min(12, to) }).map((step) => `*/${step}`),
      fc.uniqueArray(fc.integer({ min: from, max: to }), { minLength: 1, maxLength: 4 }).map((all) => all.join(',')),
    )
  const cron = fc
    .tuple(list(0, 59), list(0, 23), fc.oneof(fc.constant('*'), list(1, 28)), fc.constant('*'), list(0, 6))
    .map((parts) => parts.join(' '))
  // Days on which clocks change somewhere, and others.
  const day = fc.constantFrom(
    '2026-03-07',
    '2026-03-28',
    '2026-10-03',
    '2026-10-24',
    '2018-11-03',
    '2026-02-14',
    '2026-06-30',
  )
  fc.assert(
    fc.property(zone, cron, day, fc.constantFrom(0, 60, 630), (name, text, from, minute) => {
      const since = Date.parse(`${from}T00:00Z`) + minute * 60_000
      const until = since + 2 * 86_400_000
      const expected = slowTicks(text, name, since, until)
      expect(latestTicks(at(text, name), since, until, 10_000)).toEqual(expected)
    }),
    { numRuns: 150 },
  )
})

test('of a long time only the latest ticks are found, and soon', () => {
  const [since, until] = [0, Date.parse('2026-11-18T00:00Z')]
  expect(latestTicks({ kind: 'every', everyMs: 1_000 }, since, until, 2)).toEqual([until - 1_000, until])
  expect(latestTicks(at('0 0 1 1 *'), since, until, 1)).toEqual([Date.parse('2026-01-01T00:00Z')])
})

// Thirty-five times a minute, and seven times an hour.
test.for([60_000 / 35, 3_600_000 / 7, 1_000])('every %s ms: each tick is later than the one before', (everyMs) => {
  const first = Math.ceil(Date.parse('2026-12-18T00:00Z') / everyMs)
  const later = Array.from({ length: 1_000 }, (_, index) => (first + index) * everyMs)
  expect(later.filter((tick) => nextTick({ kind: 'every', everyMs }, tick) <= tick)).toEqual([])
  expect(later.slice(0, -1).map((tick) => nextTick({ kind: 'every', everyMs }, tick))).toEqual(later.slice(1))
})

test.for([
  '',
  '* * * *',
  '* * * * * *',
  '60 * * * *',
  '* 24 * * *',
  '* * 0 * *',
  '* * * 13 *',
  '* * * * 8',
  '* * * foo *',
  '5-1 * * * *',
  '*/0 * * * *',
  '1,,2 * * * *',
  '* * L * *',
  '* * * * 5#2',
  '@fortnightly',
  '0 0 31 2,4 *',
  '-1 * * * *',
  '*/90 * * * *',
  '0 */25 * * *',
  '5-10/20 * * * *',
  '1e1 * * * *',
  '0x5 * * * *',
])('%j is refused, and the error quotes it', (text) => {
  let refused: unknown
  try {
    parseCron(text)
  } catch (error) {
    refused = error
  }
  expect(isJustonceError(refused, 'SCHEDULE_INVALID')).toBe(true)
  expect((refused as Error).message).toContain(JSON.stringify(text))
})

test.for(['0 0 L * *', '0 0 15W * *', '0 0 * * 5L', '0 0 ? * *'])('%j is refused as what is not supported', (text) => {
  expect(() => parseCron(text)).toThrow('is not supported')
})

test('an unknown time zone is refused', () => {
  expect(() => timeZone('Europe/Atlantis')).toThrow('Europe/Atlantis')
})
