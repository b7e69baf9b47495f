import type { ParkedFilter } from '../../contracts/index.ts'

const columns = {
  handler: 'handler',
  type: 'type',
  source: 'source',
  reason: 'reason',
  shape: 'shape',
  key: 'key',
  messageId: 'message_id',
  orderKey: 'order_key',
} as const satisfies Partial<Record<keyof ParkedFilter, string>>

/** The columns of the parked table that the filter compares for equality, each with the value it wants. */
export function equalColumns(filter: ParkedFilter): [column: string, wanted: string][] {
  const names = Object.keys(columns) as (keyof typeof columns)[]
  return names.flatMap((name) => {
    const wanted = filter[name]
    return wanted === undefined ? [] : [[columns[name], wanted]]
  })
}

/** The text that the errors column must contain. Error histories are JSON, which writes a quote in a message as \". */
export function wantedInErrors({ errorText }: ParkedFilter): string | undefined {
  return errorText && JSON.stringify(errorText).slice(1, -1)
}
