import type { StoredParkedMessage } from '../contracts/index.ts'
import { doneType, effectOf, failedType, isAnnounced } from '../encoding/intent-name.ts'
import { unpackLetter } from '../encoding/unpack-letter.ts'
import { hasUnsafeKey } from '../encoding/unsafe-keys.ts'
import { checkChoice, checkOptions, JustonceError } from '../errors/index.ts'
import { type IntentOutcome, outcomeMessage } from './outcome-message.ts'
import { recordIntents } from './record-intents.ts'
import type { Site } from './site.ts'

/** What a person says about an intent. */
export type Resolution =
  | { readonly as: 'done'; readonly result?: unknown }
  | { readonly as: 'again' }
  | { readonly as: 'discarded' }

/** Checks a resolution; the JSON of its result. */
export function encodedResult(resolution: Resolution): string | undefined {
  const known = resolution?.as === 'done' ? ['as', 'result'] : ['as']
  checkOptions(resolution, known, 'The resolution of an intent')
  checkChoice(resolution.as, 'as of the resolution', ['done', 'again', 'discarded'])
  if (resolution.as !== 'done' || resolution.result === undefined) return undefined
  const text = JSON.stringify(resolution.result) as string | undefined
  if (text === undefined)
    throw new JustonceError('OPTION_INVALID', {
      message: 'The result of the resolution is nothing that JSON can hold.',
    })
  if (hasUnsafeKey(text))
    throw new JustonceError('OPTION_INVALID', {
      message: 'The result of the resolution has a property named __proto__.',
    })
  return text
}

interface ByHand {
  readonly row: StoredParkedMessage
  readonly as: Resolution['as']
  readonly result: string | undefined
  readonly errors: string
}

/** Writes what a person has decided about a row that this transaction has taken. */
export async function settleByHand<Tx>(site: Site<Tx>, tx: Tx, { row, as, result, errors }: ByHand): Promise<void> {
  const { store } = site
  const { handler, key, shape } = row
  if (as === 'again') {
    // It keeps counting: a late result of the last attempt is still recognised by its number.
    const attempts = row.attempts + row.begun
    const reason = 'INTENT_PENDING'
    await store.parking.change(tx, [{ handler, key, kind: 'again', attempts, delayMs: 0, reason, errors, shape }])
    return
  }
  await recordIntents(store.inbox, tx, [{ row, state: as === 'done' ? 'processed' : 'discarded', result }])
  const outcome: IntentOutcome =
    as === 'done' ? { kind: 'done', result } : { kind: 'discarded', error: 'An operator has discarded it.' }
  const type = as === 'done' ? doneType(effectOf(handler)) : failedType(effectOf(handler))
  if (isAnnounced(unpackLetter(row.message).headers, type) || site.handlers.isHandled(type)) {
    const message = outcomeMessage({ ...row, attempts: row.attempts + row.begun }, outcome, {
      clock: site.clock,
      encode: site.handlers.encode,
    })
    if (message !== undefined) await store.parking.park(tx, [message])
  }
  await store.parking.change(tx, [{ handler, key, kind: 'done' }])
}
