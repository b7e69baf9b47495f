import type { FactChange, Facts } from '../contracts/index.ts'
import { type Counts, type PackedCounts, packCounts, unpackCounts } from './statistics.ts'

/** What one process did in one minute. */
export interface MinuteOfProcess {
  /** The beginning of the minute, by the database's clock. */
  readonly at: Date
  /** The id of the process. */
  readonly process: string
  readonly counts: Counts
}

const kind = 'minute'
export const minuteMs = 60_000
/** As many as ten processes have in a day. */
const mostMinutes = 15_000

/** Minutes are never changed. A minute in which nothing happened has none. */
export function minuteFact({ at, process, counts }: MinuteOfProcess, keptMs: number): FactChange {
  const number = Math.floor(at.getTime() / minuteMs)
  const value = JSON.stringify(packCounts(counts))
  return { name: `${kind} ${number} ${process}`, from: undefined, value, forMs: keptMs }
}

/** The minutes of all processes since then, latest first. */
export async function listMinutes(
  { facts }: { readonly facts: Pick<Facts<never>, 'list'> },
  since: Date,
): Promise<readonly MinuteOfProcess[]> {
  const first = Math.floor(since.getTime() / minuteMs)
  return (await facts.list(kind, mostMinutes)).flatMap(({ name, value }) => {
    const [, number = '', process = ''] = name.split(' ')
    if (!(Number(number) >= first)) return []
    try {
      return [
        { at: new Date(Number(number) * minuteMs), process, counts: unpackCounts(JSON.parse(value) as PackedCounts) },
      ]
    } catch {
      return []
    }
  })
}
