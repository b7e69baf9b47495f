import type { LetterFilter, LetterSelection } from '../operations/index.ts'
import { UsageError } from './command.ts'
import type { GivenOptions, OptionSpec } from './options.ts'

export const filterOptions = {
  handler: {
    kind: 'text',
    value: 'name',
    text: 'of this handler; > and a name for messages that a destination refused',
  },
  type: { kind: 'text', value: 'type', text: 'of this type' },
  reason: { kind: 'text', value: 'code', text: 'parked for this reason, such as HANDLER_FAILED' },
  error: { kind: 'text', value: 'text', text: 'with this text in an error' },
  key: { kind: 'text', value: 'key', text: 'with this key' },
  id: { kind: 'text', value: 'id', text: 'with this message id' },
  'business-id': { kind: 'text', value: 'id', text: 'about this, such as an order: what businessId of the app found' },
  'order-key': { kind: 'text', value: 'key', text: 'of this key whose order is kept' },
  source: { kind: 'text', value: 'source', text: 'from this queue or topic' },
  since: { kind: 'date', text: 'last tried then or later: a time, or an age such as 2h' },
  before: { kind: 'date', text: 'last tried before that' },
} as const satisfies Record<string, OptionSpec>

export const pageOptions = {
  limit: { kind: 'number', text: 'how many at most, up to 1,000. Default: 50' },
  after: { kind: 'number', value: 'place', text: 'continues after this place of the list' },
} as const satisfies Record<string, OptionSpec>

export const selectionOptions = {
  ...filterOptions,
  all: { kind: 'flag', text: 'all of them' },
} as const satisfies Record<string, OptionSpec>

export function filterFrom(given: GivenOptions): LetterFilter {
  const filter = {
    handler: given.text('handler'),
    type: given.text('type'),
    reason: given.text('reason'),
    errorText: given.text('error'),
    key: given.text('key'),
    messageId: given.text('id'),
    businessId: given.text('business-id'),
    orderKey: given.text('order-key'),
    source: given.text('source'),
    since: given.date('since'),
    before: given.date('before'),
  }
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined))
}

export function pageFrom(given: GivenOptions): { readonly limit: number; readonly after: number } {
  return { limit: given.number('limit') ?? 50, after: given.number('after') ?? 0 }
}

/** Everything only if somebody says so: a filter that was forgotten must not select all. */
export function selectionFrom(given: GivenOptions): LetterSelection {
  const filter = filterFrom(given)
  const isEmpty = Object.keys(filter).length === 0
  if (given.flag('all') !== isEmpty)
    throw new UsageError(
      isEmpty ? 'which ones? Give a filter such as --handler, or --all.' : '--all and a filter do not go together.',
    )
  if (isEmpty) return 'all'
  const { handler, key, ...rest } = filter
  const isExact = handler !== undefined && key !== undefined && Object.keys(rest).length === 0
  return isExact ? { handler, key } : filter
}
