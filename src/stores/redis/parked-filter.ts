import type { ParkedFilter } from '../../contracts/index.ts'
import { equalTexts, isOfKind } from '../shared/fits-filter.ts'
import { pairName, rowName } from './names.ts'
import type { SearchedRow } from './parked-row.ts'

export function fits(filter: ParkedFilter): (row: SearchedRow) => boolean {
  const names = equalTexts.filter((name) => filter[name] !== undefined)
  const keys = filter.keys && new Set(filter.keys.map(rowName))
  // Error histories are JSON, which writes a quote in a message as \".
  const text = filter.errorText && JSON.stringify(filter.errorText).slice(1, -1)
  const since = filter.since?.getTime() ?? Number.NEGATIVE_INFINITY
  const before = filter.before?.getTime() ?? Number.POSITIVE_INFINITY
  return (row) => {
    const changedAt = Number(row.changedAt)
    return (
      isOfKind(row.handler ?? '', filter) &&
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
