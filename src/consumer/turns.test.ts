import { expect, test } from 'vitest'
import { Turns } from './turns.ts'

/** For how long batches wait without a conflict, ten milliseconds each, until more may call their handlers at once. */
function waitedMsUntilMore(turns: Turns): number {
  const { limit } = turns
  for (let waitedMs = 0; ; waitedMs += 10) {
    if (turns.limit > limit) return waitedMs
    turns.wentWell(10)
  }
}

test('they are given out one at a time, in the order of asking', () => {
  const turns = new Turns()
  const begun: string[] = []
  for (const name of ['a', 'b', 'c']) turns.take(() => begun.push(name))
  expect(begun).toEqual(['a'])
  turns.pass()
  expect(begun).toEqual(['a', 'b'])
  turns.pass()
  turns.pass()
  turns.take(() => begun.push('d'))
  expect(begun).toEqual(['a', 'b', 'c', 'd'])
})

test('two at once are tried after batches have waited for four seconds, and whoever waits begins then', () => {
  const turns = new Turns()
  const begun: string[] = []
  for (const name of ['a', 'b', 'c']) turns.take(() => begun.push(name))
  expect(waitedMsUntilMore(turns)).toBe(4_000)
  expect([turns.limit, begun]).toEqual([2, ['a', 'b']])
})

test('as long as nobody waits, there is no reason to try more', () => {
  const turns = new Turns()
  for (let i = 0; i < 10_000; i++) turns.wentWell(0)
  expect(turns.limit).toBe(1)
})

test('after each conflict half as many run at once, each time for longer', () => {
  const turns = new Turns()
  waitedMsUntilMore(turns)
  const afterConflict = (): number => {
    turns.collided(2)
    expect(turns.limit).toBe(1)
    return waitedMsUntilMore(turns)
  }
  expect([afterConflict(), afterConflict(), afterConflict()]).toEqual([16_000, 64_000, 256_000])
  for (let i = 0; i < 10; i++) afterConflict()
  expect(afterConflict()).toBe(1_024_000)
})

test('several that collide with each other are one conflict', () => {
  const turns = new Turns()
  waitedMsUntilMore(turns)
  for (let i = 0; i < 5; i++) turns.collided(2)
  expect(waitedMsUntilMore(turns)).toBe(16_000)
})

test('how many ran when they collided counts, not how many were allowed to', () => {
  const turns = new Turns()
  while (turns.limit < 64) turns.wentWell(100)
  turns.collided(4)
  expect(turns.limit).toBe(2)
})

test('a turn that is given back while more are out than allowed goes to nobody', () => {
  const turns = new Turns()
  waitedMsUntilMore(turns)
  const begun: string[] = []
  for (const name of ['a', 'b', 'c']) turns.take(() => begun.push(name))
  turns.collided(2)
  turns.pass()
  expect(begun).toEqual(['a', 'b'])
  turns.pass()
  expect(begun).toEqual(['a', 'b', 'c'])
})
