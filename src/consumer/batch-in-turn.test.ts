import { expect, test } from 'vitest'
import { BatchInTurn } from './batch-in-turn.ts'
import { TypePace } from './type-pace.ts'

const options = { max: 100, start: 1, guessMs: 1 }
const gathered = (): TypePace => new TypePace({ ...options, isGathered: true })

test('the next batch is begun, but calls its handlers only after the one before it', () => {
  const pace = gathered()
  const [first, second] = [new BatchInTurn([pace]), new BatchInTurn([pace])]
  expect(pace.mayBegin, 'a third one would only hold claims').toBe(false)
  const begun: string[] = []
  first.enter(() => begun.push('first'))
  second.enter(() => begun.push('second'))
  expect(begun).toEqual(['first'])
  first.leave()
  expect(begun).toEqual(['first', 'second'])
  expect(pace.mayBegin, 'the first is still committing').toBe(false)
  first.end()
  expect(pace.mayBegin).toBe(true)
})

test('a batch of several types waits for its turn with each of them', () => {
  const [a, b] = [gathered(), gathered()]
  const plain = new TypePace({ ...options, isGathered: false })
  const [ofA, ofB, ofAll] = [new BatchInTurn([a]), new BatchInTurn([b]), new BatchInTurn([a, b, plain])]
  let hasBegun = false
  ofA.enter(() => {})
  ofB.enter(() => {})
  ofAll.enter(() => {
    hasBegun = true
  })
  ofA.leave()
  expect(hasBegun).toBe(false)
  ofB.leave()
  expect(hasBegun).toBe(true)
})

test('other types take no turns', () => {
  const plain = new BatchInTurn([new TypePace({ ...options, isGathered: false })])
  expect(plain.takesTurns).toBe(false)
})

test('nobody waits for a batch that takes far too long, and it waits for nobody', () => {
  const pace = gathered()
  const [late, waiting, next] = [new BatchInTurn([pace]), new BatchInTurn([pace]), new BatchInTurn([pace])]
  const begun: string[] = []
  late.enter(() => begun.push('late'))
  waiting.enter(() => begun.push('waiting'))
  waiting.end()
  late.end()
  expect(begun).toEqual(['late', 'waiting'])
  late.leave()
  late.end()
  next.enter(() => begun.push('next'))
  late.enter(() => begun.push('late again'))
  expect(begun).toEqual(['late', 'waiting', 'next', 'late again'])
  next.end()
  expect(pace.mayBegin).toBe(true)
})
