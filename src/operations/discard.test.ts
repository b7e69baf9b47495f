import { expect, test } from 'vitest'
import { ana, letter, withLetters } from '../../test/app/open-letters.ts'
import { operations } from './index.ts'
import type { LetterSelection } from './types.ts'

/** Dead letters, and an operator who discards some just after another has started a redrive that the first cannot have seen. */
async function withRedriveBetween(redriven: LetterSelection) {
  const { app, store, letters, dead } = await withLetters(['m1', 'm2', 'm3'])
  await app.stop()
  const started: string[] = []
  const late: typeof store = {
    ...store,
    async transaction(work, options) {
      if (started.length === 0) started.push((await letters.redrive(redriven, ana)).id)
      return await store.transaction(work, options)
    },
  }
  const discard = (selection: LetterSelection) => operations(late).letters.discard(selection, { by: 'bo' })
  return { discard, dead, audit: app.operations.audit, status: () => letters.redriveStatus(started[0] as string) }
}

test('what a redrive has selected a moment ago is not discarded, and the others are', async () => {
  const { discard, dead, status } = await withRedriveBetween([letter('m1'), letter('m3')])
  expect(await discard('all')).toBe(1)
  expect(await dead()).toEqual(['m1', 'm3'])
  expect(await status()).toMatchObject({ selected: 2, unreleased: 2, succeeded: 0 })
})

test('if one of the named letters is in a redrive since a moment ago, none is discarded', async () => {
  const { discard, dead, status, audit } = await withRedriveBetween(letter('m3'))
  await expect(discard([letter('m1'), letter('m3')])).rejects.toMatchObject({ code: 'REDRIVE_RUNNING' })
  expect(await dead()).toEqual(['m1', 'm2', 'm3'])
  expect(await status()).toMatchObject({ selected: 1, unreleased: 1, succeeded: 0 })
  expect(await audit()).toMatchObject([{ action: 'redrive' }])
})
