import type { StoredParkedMessage } from '../contracts/index.ts'
import { keepAudit } from './audit.ts'
import { describeRetry } from './describe.ts'
import { discardLetters } from './discard-letters.ts'
import { listRows } from './list-rows.ts'
import { pagesOf } from './pages.ts'
import { withRunningMarks } from './redrives.ts'
import { checkKey, decideSelection, givenOf, type Selected } from './selection.ts'
import type { Site } from './site.ts'
import type { RetryOperations } from './types.ts'
import { type CheckedWhoAndWhy, checkWhoAndWhy } from './who-and-why.ts'

export function retryOperations<Tx>(site: Site<Tx>): RetryOperations {
  const { store } = site
  return {
    async list(filter = {}, page = {}) {
      return (await listRows(store, 'waiting', filter, page)).map(describeRetry)
    },
    async get(key) {
      const rows = await store.parking.list({ state: 'waiting', ...checkKey(key) }, { limit: 1 })
      return (await withRunningMarks(store, rows)).map(describeRetry)[0]
    },
    async retryNow(selection, whoAndWhy) {
      const checked = checkWhoAndWhy(whoAndWhy, 'retryNow()')
      const selected = decideSelection(selection, 'waiting')
      let count = 0
      for await (const page of pagesOf(store, selected.filter)) count += await makeDue(site, page, selected, checked)
      if (count > 0) site.changed({ kind: 'retried' })
      return count
    },
    discard: async (selection, whoAndWhy) => await discardLetters(site, selection, whoAndWhy, 'waiting'),
  }
}

/** Skips messages whose attempt has begun, and messages of a redrive, which would count this as a failure. */
async function makeDue<Tx>(
  site: Site<Tx>,
  page: readonly StoredParkedMessage[],
  selected: Selected,
  { by, why }: CheckedWhoAndWhy,
): Promise<number> {
  const rows = page.filter(({ begun, redrive }) => begun === 0 && redrive === undefined)
  if (rows.length === 0) return 0
  const { store } = site
  return await store.transaction(async (tx) => {
    const taken = await store.parking.take(tx, rows)
    const ours = rows.filter((_, index) => taken[index] === true)
    if (ours.length === 0) return 0
    await store.parking.change(
      tx,
      ours.map(({ handler, key, attempts, reason, errors, shape }) => {
        return { kind: 'again', handler, key, attempts, reason, errors, shape, delayMs: 0 } as const
      }),
    )
    const retries = ours.map(({ handler, key }) => ({ handler, key }))
    await keepAudit(site, tx, { action: 'retry', by, why, subject: { retries, ...givenOf(selected) } })
    return ours.length
  })
}
