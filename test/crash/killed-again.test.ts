import { describe, expect, test } from 'vitest'
import { stores } from './stores.ts'
import { exactlyOnce } from './verdict.ts'
import { ids } from './world.ts'

const visibilityMs = 300
/** After how many handler calls they are killed: wherever they are by then. */
const lives = [1, 30, 7, 45, 3, 20]
const sentForEachLife = 100
/** More than there are deaths: none of them is the fault of a message. */
const attempts = 50

describe.each(stores)('killed again and again on $name', (store) => {
  test.skipIf(store.isMissing).concurrent.each([1, 2])('%i processes at a time: one effect each', async (processes) => {
    await using world = await store.open('separate')
    for (const life of lives) {
      const sent = ids(sentForEachLife).map((id) => `${life}-${id}`)
      await world.send(sent)
      const failing = sent.filter((_, index) => index % 25 === 0)
      const dying = Array.from({ length: processes }, () =>
        world.start({ visibilityMs, attempts, batchMax: 15, failing }),
      )
      // There is so much to do that one of them gets there, however they share it.
      await Promise.any(
        dying.map((child) => child.until(() => child.all('running').length >= life, `call ${life} of a handler`)),
      )
      for (const child of dying) expect(await child.kill()).toEqual({ code: null, signal: 'SIGKILL' })
    }
    world.start({ visibilityMs: 10_000, attempts })
    await world.untilDrained()
    expect(await world.verdict()).toEqual(exactlyOnce)
  })
})
