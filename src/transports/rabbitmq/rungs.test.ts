import { expect, test } from 'vitest'
import { Rungs } from './rungs.ts'

function open() {
  const told: string[] = []
  const rungs = new Rungs({
    async begin(prefetch) {
      told.push(`begin ${prefetch}`)
      return `of ${prefetch}`
    },
    end: async (tag) => void told.push(`end ${tag}`),
  })
  return { rungs, told }
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
