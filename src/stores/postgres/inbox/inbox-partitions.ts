import { bornMs } from './born.ts'

/** A partition of the inbox: the records of messages born from `from` up to, but not including, `until`. */
export interface InboxPartition {
  readonly name: string
  readonly from: Date
  readonly until: Date
}

const dayMs = 86_400_000
/** Between these two dates each partition holds one day. Ids outside are oddities: coarser partitions keep their number small. */
const firstDay = Date.UTC(2020, 0, 1)
const dayAfterLast = Date.UTC(2100, 0, 1)

/** When the partition that contains this time begins: the same for all times in the partition, and for no others. */
export function partitionStart(born: Date): number {
  const ms = bornMs(born)
  if (ms >= firstDay && ms < dayAfterLast) return ms - (ms % dayMs)
  return ms < firstDay ? yearStart(new Date(ms).getUTCFullYear()) : dayAfterLast
}

export function partitionFrom(start: number): InboxPartition {
  return namedPartition(new Date(start), new Date(endOf(start)))
}

function endOf(start: number): number {
  if (start >= dayAfterLast) return Date.UTC(9999, 11, 31)
  if (start >= firstDay) return start + dayMs
  const year = new Date(start).getUTCFullYear()
  return yearStart(year < 1970 ? 1970 : year + 1)
}

/** One partition holds everything before 1970. */
function yearStart(year: number): number {
  return Date.UTC(year < 1970 ? 1000 : year, 0, 1)
}

function namedPartition(from: Date, until: Date): InboxPartition {
  return { name: `${digits(from)}_${digits(until)}`, from, until }
}

function digits(date: Date): string {
  return date.toISOString().slice(0, 10).replaceAll('-', '')
}

export const partName = /^(\d{4})(\d\d)(\d\d)_(\d{4})(\d\d)(\d\d)$/

/** `undefined` if it is not the name of a partition with times. */
export function partitionNamed(name: string): InboxPartition | undefined {
  const [from, until] = name.split('_').map((text) => new Date(text.replace(/^(\d{4})(\d\d)(\d\d)$/, '$1-$2-$3')))
  return partName.test(name) && from !== undefined && until !== undefined ? { name, from, until } : undefined
}

/** All partitions from one time to another, inclusive. */
export function partitionsBetween(first: Date, last: Date): InboxPartition[] {
  const partitions: InboxPartition[] = []
  for (let start = partitionStart(first); start <= partitionStart(last); start = endOf(start))
    partitions.push(partitionFrom(start))
  return partitions
}
