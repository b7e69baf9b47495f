import type { ParkedFilter } from '../../contracts/index.ts'
import { pairName, rowName } from './names.ts'
import type { SearchedRow } from './parked-row.ts'

const equal = [
  'state',
  'handler',
  'type',
  'source',
  'reason',
  'shape',
  'key',
  'messageId',
  'orderKey',
  'redrive',
] as const satisfies (keyof ParkedFilter & keyof SearchedRow)[]

export function fits(filter: ParkedFilter): (row: SearchedRow) => boolean {
  const names = equal.filter((name) => filter[name] !== undefined)
  const keys = filter.keys && new Set(filter.keys.map(rowName))
  // Error histories are JSON, which writes a quote in a message as \".
  const text = filter.errorText && JSON.stringify(filter.errorText).slice(1, -1)
  const since = filter.since?.getTime() ?? Number.NEGATIVE_INFINITY
  const before = filter.before?.getTime() ?? Number.POSITIVE_INFINITY
  return (row) => {
    const changedAt = Number(row.changedAt)
    return (
      names.every((name) => row[name] === filter[name]) &&
      (text === undefined || (row.errors ?? '').includes(text)) &&
      (filter.released === undefined || (row.released === '1') === filter.released) &&
      (row.redrive === undefined || filter.notInRedrives?.includes(row.redrive) !== true) &&
      changedAt >= since &&
      changedAt < before &&
      (keys === undefined || keys.has(pairName(row.handler ?? '', row.key ?? '')))
    )
  }
}
