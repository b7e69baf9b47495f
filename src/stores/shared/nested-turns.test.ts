import { expect, it } from 'vitest'
import { fakeClock } from '../../testing/fake-clock.ts'
import { NestedTurns } from './nested-turns.ts'

const pause = () => new Promise<void>((resolve) => setImmediate(resolve))

it('those side by side take turns, those inside go on top, at every depth', async () => {
  const turns = new NestedTurns(fakeClock(), 1000)
  const owner = {}
  const stack: string[] = []
  const log: string[] = []
  const savepoint = (name: string, inside: () => Promise<unknown> = pause) =>
    turns.run(owner, async () => {
      stack.push(name)
      log.push(stack.join('/'))
      await inside()
      expect(stack.pop()).toBe(name)
    })
  await Promise.all([
    savepoint('a', () => Promise.all([savepoint('a1', () => savepoint('a11')), savepoint('a2')])),
    savepoint('b', () => savepoint('b1')),
  ])
  expect(log).toEqual(['a', 'a/a1', 'a/a1/a11', 'a/a2', 'b', 'b/b1'])
})

it('what an ended one has left running waits like anybody else', async () => {
  const turns = new NestedTurns(fakeClock(), 1000)
  const owner = {}
  const goOn = Promise.withResolvers<void>()
  const log: string[] = []
  let straggler: Promise<void> | undefined
  await turns.run(owner, async () => {
    straggler = goOn.promise.then(() => turns.run(owner, async () => void log.push('straggler')))
  })
  await turns.run(owner, async () => {
    goOn.resolve()
    await pause()
    log.push('second')
  })
  await straggler
  expect(log).toEqual(['second', 'straggler'])
})

it('two owners do not wait for each other', async () => {
  const turns = new NestedTurns(fakeClock(), 1000)
  const result = await turns.run({}, () => turns.run({}, async () => 'done'))
  expect(result).toBe('done')
})
