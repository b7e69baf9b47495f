import { expect, test } from 'vitest'
import { Rungs } from './rungs.ts'

function open() {
  const told: string[] = []
  const unsettled = new Map<string, number>()
  const rungs = new Rungs<string>({
    async begin(prefetch) {
      told.push(`begin ${prefetch}`)
      return `of ${prefetch}`
    },
    end: async (name) => void told.push(`end ${name}`),
    unsettled: (name) => unsettled.get(name) ?? 0,
  })
  return { rungs, told, unsettled }
}

test('it begins with what is wanted, and grows by what is missing, but never by little', async () => {
  const { rungs, told } = open()
  for (const wanted of [32, 33, 40, 100, 790, 900]) await rungs.adjust(wanted, 800)
  expect(told).toEqual(['begin 32', 'begin 8', 'begin 60', 'begin 690', 'begin 10'])
  expect(rungs.prefetch).toBe(800)
})

test('it shrinks by whole steps to no less than is wanted, and never to nothing', async () => {
  const { rungs, told } = open()
  for (const wanted of [8, 100, 800]) await rungs.adjust(wanted, 800)
  told.length = 0
  await rungs.adjust(150, 800)
  expect(rungs.prefetch).toBe(800)
  await rungs.adjust(0, 800)
  expect(told).toEqual(['end of 700', 'end of 92'])
  expect(rungs.prefetch).toBe(8)
})

test('it does one thing at a time, and what is wanted meanwhile is not forgotten', async () => {
  const { rungs, told } = open()
  await Promise.all([rungs.adjust(8, 800), rungs.adjust(16, 800), rungs.adjust(32, 800)])
  expect(told).toEqual(['begin 8', 'begin 24'])
})

test('what ended consumers have brought takes room until it is settled', async () => {
  const { rungs, told, unsettled } = open()
  for (const wanted of [8, 100]) await rungs.adjust(wanted, 100)
  unsettled.set('of 92', 92)
  for (const wanted of [1, 100, 1, 100]) await rungs.adjust(wanted, 100)
  expect(told).toEqual(['begin 8', 'begin 92', 'end of 92'])
  told.length = 0
  for (const left of [91, 60, 0]) {
    unsettled.set('of 92', left)
    await rungs.adjust(100, 100)
  }
  expect(told).toEqual(['begin 32', 'begin 60'])
  expect(rungs.prefetch).toBe(100)
})

test('where there is room, what ended consumers have brought does not keep it from growing by little', async () => {
  const { rungs, told, unsettled } = open()
  for (const wanted of [8, 100]) await rungs.adjust(wanted, 800)
  unsettled.set('of 92', 92)
  for (const wanted of [1, 101]) await rungs.adjust(wanted, 800)
  expect(told).toEqual(['begin 8', 'begin 92', 'end of 92', 'begin 2'])
})
