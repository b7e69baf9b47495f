import type { ParkedFilter, ParkedMessage, RecordKey } from '../contracts/index.ts'
import { JustonceError } from '../errors/index.ts'
import { checkText, decideFilter, saysNothing } from './letter-filter.ts'
import type { LetterFilter, LetterSelection } from './types.ts'

/** A selection that has been checked. */
export type Selected =
  /** Exactly these: each of them must exist. */
  | { readonly kind: 'exact'; readonly keys: readonly RecordKey[]; readonly filter: ParkedFilter }
  /** Whatever matches the filter. */
  | { readonly kind: 'fitting'; readonly filter: ParkedFilter; readonly given: LetterFilter | 'all' }

/** More than anyone lists by hand, and few enough for one statement. */
const mostListed = 10_000

export function decideSelection(selection: LetterSelection, state: ParkedMessage['state'] = 'dead'): Selected {
  if (selection === 'all') return { kind: 'fitting', filter: { state }, given: 'all' }
  if (Array.isArray(selection)) return exactly(selection, state)
  if (isOne(selection)) return exactly([selection], state)
  const given = selection as LetterFilter
  const filter = decideFilter(given, state)
  if (saysNothing(given)) {
    throw new JustonceError('OPTION_INVALID', {
      message: "The filter is empty. To select everything, say 'all'.",
    })
  }
  return { kind: 'fitting', filter, given }
}

/** The filter as the operator gave it, for the audit, if the messages were not listed one by one. */
export function givenOf(selected: Selected): { readonly filter?: LetterFilter | 'all' } {
  return selected.kind === 'fitting' ? { filter: selected.given } : {}
}

/** Only a handler and a key, or a message as `list` returns it. */
function isOne(selection: Exclude<LetterSelection, string>): selection is RecordKey {
  if (typeof selection !== 'object' || selection === null || !('handler' in selection && 'key' in selection))
    return false
  if (selection.handler === undefined || selection.key === undefined) return false
  return 'parkedAt' in selection || Object.keys(selection).length === 2
}

function exactly(listed: readonly RecordKey[], state: ParkedMessage['state']): Selected {
  if (listed.length > mostListed) {
    throw new JustonceError('OPTION_INVALID', {
      message: `The selection lists ${listed.length} letters, more than ${mostListed}; use a filter.`,
    })
  }
  const keys = new Map<string, RecordKey>()
  for (const each of listed) {
    const key = checkKey(each)
    keys.set(nameOf(key), key)
  }
  if (keys.size === 0) throw new JustonceError('LETTERS_NONE_FOUND', { message: 'The list of letters is empty.' })
  return { kind: 'exact', keys: [...keys.values()], filter: { state, keys: [...keys.values()] } }
}

export function checkKey(given: RecordKey): RecordKey {
  if (typeof given !== 'object' || given === null) {
    throw new JustonceError('OPTION_INVALID', { message: `${String(given)} is not { handler, key }.` })
  }
  const { handler, key } = given
  checkText(handler, 'handler')
  checkText(key, 'key')
  return { handler, key }
}

export function nameOf({ handler, key }: RecordKey): string {
  return JSON.stringify([handler, key])
}
