import type { BehindOptions, DueOptions, PackedMessage, StoredParkedMessage } from '../../contracts/index.ts'

/** The rows that are due, longest overdue first. */
export function dueRows(
  rows: readonly StoredParkedMessage[],
  now: number,
  { wanted, pastDead, limit, maxBytes }: DueOptions,
): StoredParkedMessage[] {
  const firstStep = lowest(rows, messageOf, (row) => row.step)
  const inOrder = rows.filter((row) => row.orderKey !== undefined)
  const inTheWay = inOrder.filter((row) => row.state === 'waiting' || !pastDead.includes(row.handler))
  const head = lowest(inTheWay, scopeOf, (row) => row.sequence)
  const due = rows
    .filter((row) => row.state === 'waiting' && row.nextAt.getTime() <= now && isAmong(wanted, row))
    .filter((row) => row.independent || firstStep.get(messageOf(row)) === row.step)
    .filter((row) => row.orderKey === undefined || head.get(scopeOf(row)) === row.sequence)
    .sort((a, b) => a.nextAt.getTime() - b.nextAt.getTime() || a.sequence - b.sequence)
    .slice(0, limit)
  return withinBytes(due, maxBytes)
}

function isAmong(wanted: DueOptions['wanted'], row: StoredParkedMessage): boolean {
  return wanted.some(({ handler, type = row.type }) => handler === row.handler && type === row.type)
}

/** The due rows directly behind a row of an order key, up to the first one that may not be taken yet. */
export function rowsBehind(
  rows: readonly StoredParkedMessage[],
  head: StoredParkedMessage,
  now: number,
  { pastDead, limit, maxBytes }: BehindOptions,
): StoredParkedMessage[] {
  const firstStep = lowest(rows, messageOf, (row) => row.step)
  const behind = rows
    .filter((row) => row.orderKey !== undefined && scopeOf(row) === scopeOf(head) && row.sequence > head.sequence)
    .filter((row) => row.state === 'waiting' || !pastDead)
    .sort((a, b) => a.sequence - b.sequence)
  const isNext = (row: StoredParkedMessage): boolean =>
    row.state === 'waiting' &&
    row.nextAt.getTime() <= now &&
    (row.independent || firstStep.get(messageOf(row)) === row.step)
  const end = behind.findIndex((row) => !isNext(row))
  return withinBytes(behind.slice(0, end === -1 ? limit : Math.min(end, limit)), maxBytes)
}

/** The first rows whose messages fit into so many bytes; at least one. */
export function withinBytes<Row extends { readonly message: PackedMessage }>(
  rows: readonly Row[],
  maxBytes: number,
): Row[] {
  let bytes = 0
  return rows.filter(({ message }) => {
    const isWithin = bytes < maxBytes
    bytes += message.envelope.length + message.body.length
    return isWithin
  })
}

function messageOf({ source, type, messageId }: StoredParkedMessage): string {
  return JSON.stringify([source, type, messageId])
}

function scopeOf({ handler, orderKey }: StoredParkedMessage): string {
  return JSON.stringify([handler, orderKey])
}

function lowest(
  rows: readonly StoredParkedMessage[],
  groupOf: (row: StoredParkedMessage) => string,
  numberOf: (row: StoredParkedMessage) => number,
): Map<string, number> {
  const found = new Map<string, number>()
  for (const row of rows) {
    const group = groupOf(row)
    found.set(group, Math.min(numberOf(row), found.get(group) ?? Number.POSITIVE_INFINITY))
  }
  return found
}
