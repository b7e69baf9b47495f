import type { Field } from '../parts/filters.tsx'
import { given } from '../route.ts'
import type { Selection } from '../wire.ts'

/** What dead letters and waiting messages are found by. */
export const letterFields: readonly Field[] = [
  { name: 'handler', label: 'Handler' },
  { name: 'errorText', label: 'Text of the error' },
  { name: 'type', label: 'Type' },
  { name: 'reason', label: 'Reason', hint: 'HANDLER_FAILED' },
  { name: 'businessId', label: 'Business id', hint: 'order-4711', isRare: true },
  { name: 'messageId', label: 'Message id', isRare: true },
  { name: 'key', label: 'Key', isRare: true },
  { name: 'orderKey', label: 'Order key', isRare: true },
  { name: 'source', label: 'Source', isRare: true },
  { name: 'since', label: 'Since', kind: 'time', isRare: true },
  { name: 'before', label: 'Before', kind: 'time', isRare: true },
]

const names = [...letterFields.map(({ name }) => name), 'shape']

export function letterFilter(query: URLSearchParams): Record<string, string> {
  return given(query, names)
}

/** The filter as the server takes it: everything only if there is no filter at all. */
export function selectionOf({ shape, ...filter }: Readonly<Record<string, string>>): Selection {
  if (shape !== undefined) {
    const { handler = '', reason = '', ...rest } = filter
    return { ...rest, group: { handler, reason, shape } }
  }
  return Object.keys(filter).length === 0 ? 'all' : filter
}
