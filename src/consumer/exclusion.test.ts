import { expect, test } from 'vitest'
import { Exclusion } from './exclusion.ts'

/** A piece of work that lasts until it is let go. */
function work(log: string[], name: string) {
  const { promise, resolve } = Promise.withResolvers<void>()
  const run = async (): Promise<string> => {
    log.push(`${name} begins`)
    await promise
    log.push(`${name} ends`)
    return name
  }
  return { run, letGo: resolve }
}

async function settle(): Promise<void> {
  for (let turns = 0; turns < 20; turns++) await Promise.resolve()
}

test('many run together; one that must be alone waits for them, and those who come later wait for it', async () => {
  const log: string[] = []
  const exclusion = new Exclusion()
  const [a, b, alone, c] = ['a', 'b', 'alone', 'c'].map((name) => work(log, name)) as [W, W, W, W]
  const done = [
    exclusion.together(a.run),
    exclusion.together(b.run),
    exclusion.alone(alone.run),
    exclusion.together(c.run),
  ]
  await settle()
  expect(log).toEqual(['a begins', 'b begins'])
  a.letGo()
  await settle()
  expect(log).not.toContain('alone begins')
  b.letGo()
  await settle()
  expect(log.at(-1)).toBe('alone begins')
  alone.letGo()
  await settle()
  expect(log.slice(-2)).toEqual(['alone ends', 'c begins'])
  c.letGo()
  expect(await Promise.all(done)).toEqual(['a', 'b', 'alone', 'c'])
})

type W = ReturnType<typeof work>

test('two that must be alone come one after the other', async () => {
  const log: string[] = []
  const exclusion = new Exclusion()
  const [a, b] = ['a', 'b'].map((name) => work(log, name)) as [W, W]
  const done = [exclusion.alone(a.run), exclusion.alone(b.run)]
  await settle()
  expect(log).toEqual(['a begins'])
  a.letGo()
  b.letGo()
  await Promise.all(done)
  expect(log).toEqual(['a begins', 'a ends', 'b begins', 'b ends'])
})

test('a call that fails makes room as well', async () => {
  const exclusion = new Exclusion()
  const fail = () => Promise.reject(new Error('no'))
  await expect(exclusion.alone(fail)).rejects.toThrow('no')
  await expect(exclusion.together(fail)).rejects.toThrow('no')
  expect(await exclusion.alone(async () => 'alone')).toBe('alone')
})
