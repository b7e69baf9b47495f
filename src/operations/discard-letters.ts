import type { RecordKey } from '../contracts/index.ts'
import { recordKeyOf } from '../encoding/record-key.ts'
import { checkFunction, JustonceError } from '../errors/index.ts'
import { keepAudit } from './audit.ts'
import { countParked } from './count-parked.ts'
import { changedMeanwhile, findLetters, orExplain } from './find-letters.ts'
import { pagesOf } from './pages.ts'
import { holdRunning, type RunningRedrives, runningRedrives } from './redrives.ts'
import { despiteRivals, RivalError } from './rivals.ts'
import { decideSelection, givenOf, type Selected } from './selection.ts'
import type { Site } from './site.ts'
import type { DiscardOptions, LetterSelection } from './types.ts'
import { type CheckedWhoAndWhy, checkWhoAndWhy } from './who-and-why.ts'

const atOnce = 1_000

/**
 * Removes dead letters, or messages that wait, and marks their records. Letters that are named one by one are removed in one transaction, all of them
 * or none; those that match a filter a page at a time, because a store waits only so long for a commit.
 */
export async function discardLetters<Tx>(
  site: Site<Tx>,
  selection: LetterSelection,
  options: DiscardOptions,
  state: 'dead' | 'waiting' = 'dead',
): Promise<number> {
  const signed = checkWhoAndWhy(options, 'discard()', ['progress'])
  const { progress = () => {} } = options
  checkFunction(progress, 'progress of discard()')
  const selected = decideSelection(selection, state)
  if (selected.kind === 'exact') {
    const { keys } = selected
    if (state === 'waiting') return await discardAtOnce(site, selected, keys, signed)
    await findLetters(site, keys)
    return await orExplain(site, selected, () => discardAtOnce(site, selected, keys, signed))
  }
  let count = 0
  for await (const page of pagesOf(site.store, selected.filter)) {
    const keys = page.filter(({ redrive }) => redrive === undefined).map(({ handler, key }) => ({ handler, key }))
    if (keys.length > 0) count += await discardAtOnce(site, selected, keys, signed)
    progress(count)
  }
  if (count === 0 && state === 'dead')
    throw new JustonceError('LETTERS_NONE_FOUND', { message: 'No dead letter matches the filter.' })
  return count
}

async function discardAtOnce<Tx>(
  site: Site<Tx>,
  selected: Selected,
  keys: readonly RecordKey[],
  { by, why }: CheckedWhoAndWhy,
): Promise<number> {
  const { store } = site
  const shared = await sharedRecords(site, keys)
  const discard = async (tx: Tx, running: RunningRedrives) => {
    // First of all: a redrive that starts now would count as succeeded what is discarded here.
    if (!(await holdRunning(store, tx, running))) throw new RivalError()
    let count = 0
    for (let start = 0; start < keys.length; start += atOnce) {
      // By the filter as well: a row that has changed meanwhile is not the dead letter that was seen.
      const some = { ...selected.filter, keys: keys.slice(start, start + atOnce), notInRedrives: running.ids }
      const discarded = await store.parking.edit(tx, some, { kind: 'remove' }, atOnce)
      if (discarded.length === 0) continue
      count += discarded.length
      await store.inbox.update(
        tx,
        discarded.flatMap(({ handler, key }) =>
          [{ handler, key }, ...(shared.get(key)?.get(handler) ?? [])].map((record) => ({
            ...record,
            state: 'discarded' as const,
          })),
        ),
      )
      const subject = { letters: discarded, ...givenOf(selected) }
      await keepAudit(site, tx, { action: 'discard', by, why, subject })
    }
    if (selected.kind === 'exact' && selected.filter.state === 'dead' && count < keys.length) throw changedMeanwhile()
    return count
  }
  return await despiteRivals(async () => {
    const running = await runningRedrives(store)
    return await store.transaction((tx) => discard(tx, running))
  })
}

/**
 * A renamed handler has records of its message under its other names, too, and a message that was claimed late has its record
 * under another key than its row. Maps the dead letter's key, then its handler, to those records.
 */
async function sharedRecords<Tx>(
  site: Site<Tx>,
  letters: readonly RecordKey[],
): Promise<ReadonlyMap<string, ReadonlyMap<string, readonly RecordKey[]>>> {
  const others = letters.flatMap(({ handler, key }) => {
    const recordKey = recordKeyOf(key)
    return [...new Set([handler, ...site.handlers.namesOf(handler)])]
      .filter((name) => name !== handler || recordKey !== key)
      .map((name) => ({ of: { handler, key }, handler: name, key: recordKey }))
  })
  const shared = new Map<string, Map<string, RecordKey[]>>()
  for (let start = 0; start < others.length; start += atOnce) {
    const some = others.slice(start, start + atOnce)
    const records = await site.store.inbox.find(some)
    for (const [index, { of, handler, key }] of some.entries()) {
      if (records[index]?.state !== 'parked') continue
      // If a row of exactly that key is parked, the record belongs to that row.
      if ((await countParked(site.store, { keys: [{ handler, key }] })) > 0) continue
      const ofKey = shared.get(of.key) ?? new Map<string, RecordKey[]>()
      shared.set(of.key, ofKey.set(of.handler, [...(ofKey.get(of.handler) ?? []), { handler, key }]))
    }
  }
  return shared
}
