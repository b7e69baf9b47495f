import { expect, test } from 'vitest'
import { ana, letter } from '../../test/app/open-letters.ts'
import { memoryStore } from '../stores/memory/index.ts'
import { parkedMessage } from '../testing/sample-records.ts'
import { countParked, operations } from './index.ts'

/** More dead letters than one transaction changes, and how many were changed by each transaction. */
async function withMany(count: number) {
  const plain = memoryStore()
  const rows = Array.from({ length: count }, (_, index) => parkedMessage(`m${index}`, { state: 'dead' }))
  await plain.transaction((tx) => plain.parking.park(tx, rows))
  const changed: number[] = []
  let before = async (): Promise<unknown> => undefined
  const store: typeof plain = {
    ...plain,
    async transaction(work, options) {
      await before()
      changed.push(0)
      return await plain.transaction(work, options)
    },
    parking: {
      ...plain.parking,
      async edit(tx, filter, edit, limit) {
        const edited = await plain.parking.edit(tx, filter, edit, limit)
        changed.push((changed.pop() ?? 0) + edited.length)
        return edited
      },
    },
  }
  return {
    plain,
    letters: operations(store).letters,
    changed,
    /** Does this before the transaction of that number. */
    beforeTransaction(number: number, act: () => Promise<unknown>) {
      before = async () => (changed.length === number ? await act() : undefined)
    },
  }
}

test('a redrive of many letters marks them in several transactions, and has all of them', async () => {
  const { letters, changed } = await withMany(21_000)
  const { id, selected } = await letters.redrive('all', ana)
  expect(selected).toBe(21_000)
  expect(Math.max(...changed)).toBeLessThanOrEqual(10_000)
  expect(await letters.redriveStatus(id)).toMatchObject({ unreleased: 21_000, succeeded: 0, failed: 0 })
})

test('letters that others discard while a large redrive is being marked are not in it', async () => {
  for (const number of [1, 2, 3]) {
    const { plain, letters, beforeTransaction } = await withMany(20_500)
    const other = operations(plain).letters
    let isDiscarded = false
    beforeTransaction(number, async () => {
      if (!isDiscarded) await other.discard([letter('m0'), letter('m1')], { by: 'bo' })
      isDiscarded = true
    })
    const { id, selected } = await letters.redrive('all', ana)
    expect(selected).toBe(20_498)
    expect(await letters.redriveStatus(id)).toMatchObject({ unreleased: 20_498, succeeded: 0 })
  }
})

test('of two large redrives that start at the same time, each letter is in one', async () => {
  const { plain, letters, beforeTransaction } = await withMany(20_500)
  const other = operations(plain).letters
  const started: Promise<{ readonly selected: number }>[] = []
  beforeTransaction(1, async () => {
    if (started.length === 0) started.push(other.redrive('all', { by: 'bo' }))
    await started[0]
  })
  await expect(letters.redrive('all', ana)).rejects.toMatchObject({ code: 'LETTERS_NONE_FOUND' })
  expect(await started[0]).toMatchObject({ selected: 20_500 })
})

test('a large redrive that is refused leaves its letters to the next', async () => {
  const { plain, letters } = await withMany(10_500)
  const row = parkedMessage('half', { state: 'dead', reason: 'PARTLY_APPLIED' })
  await plain.transaction((tx) => plain.parking.park(tx, [row]))
  await expect(letters.redrive('all', ana)).rejects.toMatchObject({ code: 'PARTLY_APPLIED' })
  expect(await letters.redrives()).toEqual([])
  await letters.discard(letter('half'), ana)
  expect(await letters.redrive('all', ana)).toMatchObject({ selected: 10_500 })
})

test('many letters are discarded in several transactions, each with its audit', async () => {
  const { plain, letters, changed } = await withMany(2_500)
  expect(await letters.discard('all', ana)).toBe(2_500)
  expect(Math.max(...changed)).toBeLessThanOrEqual(1_000)
  expect(await countParked(plain)).toBe(0)
  expect((await operations(plain).audit()).map(({ action }) => action)).toEqual(['discard', 'discard', 'discard'])
})
