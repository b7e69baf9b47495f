import { expect, onTestFinished, test } from 'vitest'
import { effects, justonce, type Participant } from '../../src/index.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { scratchFolder } from '../sqlite/open-sqlite.ts'
import { runHere } from './run-here.ts'

/** A file in which one reservation is confirmed, and one waits for its stock, by an app that has ended. */
async function openShop() {
  const folder = scratchFolder()
  onTestFinished(() => folder.remove())
  const path = folder.file('shop.db')
  const store = sqliteStore({ path })
  const app = justonce({ store, effects: effects<{ order: { readonly isAway: boolean } }>(), log: false })
  const reserve = ({ body }: { readonly body: unknown }): void => {
    if ((body as { readonly isAway: boolean }).isAway) throw new Error('ECONNREFUSED')
  }
  const credit: Participant = { try() {}, confirm() {}, cancel() {} }
  app.reservation('order', { participants: { stock: { ...credit, try: reserve }, credit } })
  const ended = Promise.withResolvers<void>()
  const waits = Promise.withResolvers<void>()
  app.events.listen(({ kind }) => {
    if (kind === 'intent-done') ended.resolve()
    if (kind === 'intent-unknown') waits.resolve()
  })
  await app.start()
  await store.transaction(async (tx) => {
    await app.intend('order', { isAway: false }, { tx, key: 'order 1' })
    await app.intend('order', { isAway: true }, { tx, key: 'order 2' })
  })
  await Promise.all([ended.promise, waits.promise])
  await app.stop()
  await store.close()
  return (...args: readonly string[]) => runHere([...args, '--store', `sqlite:${path}`])
}

test('justonce reservations shows where each stands, and intents gives up one that is not decided', async () => {
  const run = await openShop()
  const { out } = await run('reservations', 'list')
  expect(out).toMatch(/order +order 1 +confirm +stock confirmed, credit confirmed/)
  expect(out).toMatch(/order +order 2 +not yet +stock trying, credit reserved/)
  const shown = await run('reservations', 'show', 'order', 'order 2')
  expect(shown.code).toBe(0)
  expect(shown.out).toMatch(
    /^order, key order 2: not decided yet\nchanged .*, first tried .*\nstock: trying\ncredit: reserved\n$/,
  )
  expect(await run('reservations', 'show', 'order', 'order 3')).toMatchObject({ code: 1 })
  const refused = await run('intents', 'resolve', 'order', 'order 2', '--done', '--yes', '--by', 'ada')
  expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('credit is reserved') })
  const settled = await run('intents', 'resolve', 'order', 'order 2', '--discard', '--yes', '--by', 'ada')
  expect(settled.code).toBe(0)
  const cancelled = await run('reservations', 'show', 'order', 'order 2', '--json')
  expect(JSON.parse(cancelled.out)).toMatchObject({
    decision: 'cancel',
    why: 'ada resolved it as discarded',
    participants: { stock: 'cancelling', credit: 'cancelling' },
  })
})
