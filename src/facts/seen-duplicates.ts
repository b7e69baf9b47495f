import type { Facts } from '../contracts/index.ts'

/** A copy of a message that had already been processed, or was parked, when it arrived. */
export interface SeenDuplicate {
  readonly handler: string
  readonly key: string
  readonly messageId: string
  readonly type: string
  readonly source: string
  /** When it arrived, by the database's clock. */
  readonly at: Date
  /** `cache`: the process itself recognised it; `store`: the database did. */
  readonly recognisedBy: 'cache' | 'store'
  /** The broker says that it may have delivered this copy before: it was not acknowledged. */
  readonly redelivered: boolean
  /** How often the broker has delivered this copy, if it counts. */
  readonly deliveries: number | undefined
}

/** A duplicate with the process that saw it. */
export interface DuplicateOfProcess extends SeenDuplicate {
  readonly process: string
}

const kind = 'duplicates'
const mostProcesses = 1_000

export function nameOfDuplicates(process: string): string {
  return `${kind} ${process}`
}

type Row = readonly [
  handler: string,
  key: string,
  messageId: string,
  type: string,
  source: string,
  at: number,
  by: 's' | 'c',
  redelivered: 0 | 1,
  deliveries: number | null,
]

export function packDuplicates(seen: readonly SeenDuplicate[]): string {
  return JSON.stringify(
    seen.map((each): Row => {
      const { handler, key, messageId, type, source, at, recognisedBy, redelivered, deliveries } = each
      const by = recognisedBy === 'store' ? 's' : 'c'
      return [handler, key, messageId, type, source, at.getTime(), by, redelivered ? 1 : 0, deliveries ?? null]
    }),
  )
}

/** The latest duplicates that each process has seen, latest first. */
export async function listDuplicates({
  facts,
}: {
  readonly facts: Pick<Facts<never>, 'list'>
}): Promise<readonly DuplicateOfProcess[]> {
  const found = (await facts.list(kind, mostProcesses)).flatMap(({ name, value }) =>
    rowsIn(value).map(([handler, key, messageId, type, source, at, by, redelivered, deliveries]) => ({
      ...{ process: name.slice(kind.length + 1), handler, key, messageId, type, source },
      at: new Date(at),
      recognisedBy: by === 's' ? ('store' as const) : ('cache' as const),
      redelivered: redelivered === 1,
      deliveries: deliveries ?? undefined,
    })),
  )
  return found.toSorted((a, b) => b.at.getTime() - a.at.getTime())
}

function rowsIn(value: string): readonly Row[] {
  try {
    const rows: unknown = JSON.parse(value)
    return Array.isArray(rows) ? (rows.filter(Array.isArray) as unknown as Row[]) : []
  } catch {
    return []
  }
}
