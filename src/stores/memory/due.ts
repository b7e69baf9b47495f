import type { DueOptions } from '../../contracts/index.ts'
import type { ParkedRow } from './memory-database.ts'

/** Which of the rows are due, those due longest first. */
export function dueRows(
  rows: readonly ParkedRow[],
  now: number,
  { handlers, pastDead, limit }: DueOptions,
): ParkedRow[] {
  const firstStep = lowest(rows, messageOf, (row) => row.step)
  const inOrder = rows.filter((row) => row.orderKey !== undefined)
  const inTheWay = inOrder.filter((row) => row.state === 'waiting' || !pastDead.includes(row.handler))
  const head = lowest(inTheWay, scopeOf, (row) => row.sequence)
  return rows
    .filter((row) => row.state === 'waiting' && row.nextAt.getTime() <= now && handlers.includes(row.handler))
    .filter((row) => row.independent || firstStep.get(messageOf(row)) === row.step)
    .filter((row) => row.orderKey === undefined || head.get(scopeOf(row)) === row.sequence)
    .sort((a, b) => a.nextAt.getTime() - b.nextAt.getTime() || a.sequence - b.sequence)
    .slice(0, limit)
}

function messageOf({ source, type, messageId }: ParkedRow): string {
  return JSON.stringify([source, type, messageId])
}

function scopeOf({ handler, orderKey }: ParkedRow): string {
  return JSON.stringify([handler, orderKey])
}

function lowest(
  rows: readonly ParkedRow[],
  groupOf: (row: ParkedRow) => string,
  numberOf: (row: ParkedRow) => number,
): Map<string, number> {
  const found = new Map<string, number>()
  for (const row of rows) {
    const group = groupOf(row)
    found.set(group, Math.min(numberOf(row), found.get(group) ?? Number.POSITIVE_INFINITY))
  }
  return found
}
