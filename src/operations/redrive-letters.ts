import type { PackedMessage, RecordKey, StoredParkedMessage } from '../contracts/index.ts'
import { checkNumber, JustonceError } from '../errors/index.ts'
import { uuidv7 } from '../ids/index.ts'
import { type AuditEntry, keepAudit } from './audit.ts'
import { countParked } from './count-parked.ts'
import { changedMeanwhile, findLetters, orExplain } from './find-letters.ts'
import { isTooManyToMark, markAhead, type RunningRedrives, runningRedrives, startRedrive } from './redrives.ts'
import { despiteRivals, RivalError } from './rivals.ts'
import { decideSelection, type Selected } from './selection.ts'
import type { Site } from './site.ts'
import type { LetterSelection, RedriveOptions, RedriveSettings } from './types.ts'
import { checkWhoAndWhy, checkWhole } from './who-and-why.ts'

/** Stores a redrive and marks its dead letters, or nothing comes of it. */
export async function redriveLetters<Tx>(
  site: Site<Tx>,
  selection: LetterSelection,
  options: RedriveOptions,
): Promise<{ readonly id: string; readonly selected: number }> {
  const settings = decideSettings(site, options)
  const selected = decideSelection(selection)
  const edit = await checkLetters(site, selected, options.body)
  const { store } = site
  const { id } = settings
  const isLarge = selected.kind === 'fitting' && (await isTooManyToMark(store, selected.filter))
  if (isLarge) await markInSteps(site, id, selected)
  const start = async (tx: Tx, running: RunningRedrives, ahead: number) => {
    const marked = await startRedrive(store, tx, running, settings, selected.filter, ahead)
    if (marked === undefined) throw new RivalError()
    await refusePartly(store, tx, running, id, selected)
    if (edit !== undefined && !(await replace(store, tx, edit))) throw changedMeanwhile()
    if (selected.kind === 'exact' && marked < selected.keys.length) throw changedMeanwhile()
    if (marked === 0) throw new JustonceError('LETTERS_NONE_FOUND', { message: 'No dead letter matches the filter.' })
    await keepAudit(site, tx, ...auditOf(settings, selected, marked, edit?.key))
    return marked
  }
  const count = await orExplain(site, selected, () =>
    despiteRivals(async () => {
      const running = await runningRedrives(store)
      const ahead = isLarge ? await countParked(store, { redrive: id }) : 0
      return await store.transaction((tx) => start(tx, running, ahead))
    }),
  )
  site.changed({ kind: 'redrive-started' })
  return { id, selected: count }
}

/** If this ends in the middle, its marks are of a redrive that does not run, and mean nothing. */
async function markInSteps<Tx>({ store }: Site<Tx>, id: string, { filter }: Selected): Promise<void> {
  const step = async (): Promise<boolean> => {
    const running = await runningRedrives(store)
    return await store.transaction(async (tx) => {
      const hasMore = await markAhead(store, tx, running, id, filter)
      if (hasMore === undefined) throw new RivalError()
      return hasMore
    })
  }
  while (await despiteRivals(step));
}

async function replace<Tx>({ parking }: Site<Tx>['store'], tx: Tx, { key, message }: Edit): Promise<boolean> {
  const edited = await parking.edit(tx, { state: 'dead', keys: [key] }, { kind: 'replace', message }, 1)
  return edited.length === 1
}

function decideSettings<Tx>({ clock }: Site<Tx>, options: RedriveOptions): RedriveSettings {
  const settings = ['canary', 'perSecond', 'stopAfterFailures', 'body']
  const { by, why } = checkWhoAndWhy(options, 'redrive()', settings)
  const { canary = 0, perSecond, stopAfterFailures = 10 } = options
  checkWhole(canary, 'canary', 0)
  checkWhole(stopAfterFailures, 'stopAfterFailures', 0)
  // A rate of less than one message in about four months is a mistake, too.
  if (perSecond !== undefined) checkNumber(perSecond, 'perSecond', 1e-7)
  return { id: uuidv7(clock.now().getTime()), by, why, canary, perSecond, stopAfterFailures }
}

interface Edit {
  readonly key: RecordKey
  readonly message: PackedMessage
}

async function checkLetters<Tx>(site: Site<Tx>, selected: Selected, body: unknown): Promise<Edit | undefined> {
  if (body !== undefined && (selected.kind !== 'exact' || selected.keys.length !== 1)) {
    const what = selected.kind === 'exact' ? `${selected.keys.length} letters` : 'a filter'
    throw new JustonceError('EDIT_INVALID', {
      message: `An edited body is for exactly one letter, named by handler and key, not for ${what}.`,
    })
  }
  if (selected.kind !== 'exact') return undefined
  const letters = await findLetters(site, selected.keys)
  if (letters.length > 1) return undefined
  const letter = letters[0] as StoredParkedMessage
  if (site.handlers.isTooLate(letter)) {
    throw new JustonceError('REDRIVE_EXPIRED', {
      message: `The expiry of message ${letter.messageId} has passed, so handler ${letter.handler} would not run.`,
    })
  }
  if (body === undefined) return undefined
  const { handler, key } = letter
  return { key: { handler, key }, message: await site.handlers.editedMessage(letter, body) }
}

const partly = 'PARTLY_APPLIED'
const mostCounted = 10_000

/**
 * What was applied of them would be applied twice, and nobody notices it among many others. Asked for in the transaction, after
 * they were marked: no other can die in this way any more and be among them.
 */
async function refusePartly<Tx>(
  { parking }: Site<Tx>['store'],
  tx: Tx,
  { ids }: RunningRedrives,
  redrive: string,
  selected: Selected,
): Promise<void> {
  const isMeant = selected.kind === 'exact' ? selected.keys.length === 1 : selected.filter.reason !== undefined
  if (isMeant) return
  const among = { ...selected.filter, reason: partly, notInRedrives: ids }
  const { length } = await parking.edit(tx, among, { kind: 'mark', redrive }, mostCounted)
  if (length === 0) return
  throw new JustonceError(partly, {
    message: `${length} of the dead letters were applied in part, and a redrive would apply that part again: it takes them one by one, or by this reason.`,
  })
}

function auditOf(
  { id, by, why, canary, perSecond, stopAfterFailures }: RedriveSettings,
  selected: Selected,
  count: number,
  edited: RecordKey | undefined,
): readonly AuditEntry[] {
  const what = selected.kind === 'exact' ? { letters: selected.keys } : { filter: selected.given }
  const settings = { canary, perSecond, stopAfterFailures }
  const redrive = { action: 'redrive', by, why, subject: { id, selected: count, ...what, ...settings } } as const
  if (edited === undefined) return [redrive]
  return [{ action: 'edit', by, why, subject: { ...edited, redrive: id } }, redrive]
}
