import { expect, test } from 'vitest'
import { bare, consume, type Fixed, type World } from './world.ts'

const near = { connections: 10, messages: 4_000 }
const far = (rttMs: number) => ({ connections: 20, messages: 4_000, costs: { rttMs } })

interface Case {
  readonly name: string
  readonly world: World
  /** The best of those that a person would find by trying. Which one that is differs from world to world. */
  readonly best: Fixed
  /** From the first message on, and although this one does not know the world. */
  readonly atLeast: number
}

const cases: readonly Case[] = [
  {
    name: 'keys, next door',
    world: { ...near, rows: 1_000, keyed: true },
    best: { size: 32, atOnce: 4 },
    atLeast: 0.9,
  },
  {
    name: 'keys, far away',
    world: { ...far(2), rows: 1_000, keyed: true },
    best: { size: 16, atOnce: 15 },
    atLeast: 0.85,
  },
  { name: 'no keys', world: { ...near, rows: 1_000 }, best: { size: 8, atOnce: 7 }, atLeast: 0.8 },
  {
    name: 'no keys, rows that seldom collide, and much chance',
    world: { ...near, messages: 8_000, rows: 10_000, noise: 0.9 },
    best: { size: 32, atOnce: 4 },
    atLeast: 0.8,
  },
  { name: 'no keys, far away', world: { ...far(2), rows: 1_000 }, best: { size: 4, atOnce: 15 }, atLeast: 0.7 },
  { name: 'ten hot rows, next door', world: { ...near, rows: 10 }, best: { size: 100, atOnce: 1 }, atLeast: 0.75 },
  {
    name: 'ten hot rows and few in flight, next door',
    world: { ...near, rows: 10, inFlight: 10 },
    best: { size: 1, atOnce: 7 },
    atLeast: 1.1,
  },
  { name: 'ten hot rows, far away', world: { ...far(2), rows: 10 }, best: { size: 1, atOnce: 15 }, atLeast: 0.75 },
  {
    name: 'few in flight, next door',
    world: { ...near, rows: 1_000, inFlight: 10 },
    best: { size: 8, atOnce: 2 },
    atLeast: 0.85,
  },
  {
    name: 'few in flight, far away',
    world: { ...far(2), rows: 1_000, inFlight: 10 },
    best: { size: 1, atOnce: 15 },
    atLeast: 0.9,
  },
  {
    name: 'interleaved',
    world: { ...far(0.5), rows: 1_000, interleaved: true },
    best: { size: 32, atOnce: 7 },
    atLeast: 0.8,
  },
  {
    name: 'interleaved on hot rows',
    world: { ...far(0.5), rows: 10, interleaved: true },
    best: { size: 32, atOnce: 2 },
    atLeast: 0.9,
  },
]

test.each(cases)('$name: near to the best fixed sizes', ({ world, best, atLeast }) => {
  expect(speed(world) / speed(world, best)).toBeGreaterThan(atLeast)
})

test('what is best next door is bad far away, and the other way round, so no fixed sizes would do', () => {
  const world = { rows: 10 }
  const [large, small] = [
    { size: 100, atOnce: 1 },
    { size: 1, atOnce: 15 },
  ]
  expect(speed({ ...near, ...world }, large) / speed({ ...near, ...world }, small)).toBeGreaterThan(1.5)
  expect(speed({ ...far(2), ...world }, small) / speed({ ...far(2), ...world }, large)).toBeGreaterThan(1.5)
})

test('chance alone makes no batches smaller', () => {
  const { sizes } = consume({ ...near, rows: 1_000, keyed: true, messages: 20_000, noise: 0.9 })
  const late = sizes.slice(-50)
  expect(late.reduce((sum, size) => sum + size, 0) / late.length).toBeGreaterThan(30)
})

test('with a network in between and keys, batches are faster than a bare transaction for each message', () => {
  const world = { ...far(2), rows: 1_000, keyed: true }
  expect(speed(world) / bare(world)).toBeGreaterThan(1)
})

/** Chance differs from seed to seed. */
function speed(world: World, fixed?: Fixed): number {
  return consume({ ...world, seed: 1 }, fixed).perSecond + consume({ ...world, seed: 2 }, fixed).perSecond
}
