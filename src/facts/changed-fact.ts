import type { FactChange, NamedFact } from '../contracts/index.ts'

/** A fact as a store keeps it. Times are milliseconds of the database's clock. */
export interface FactRow {
  readonly value: string
  readonly revision: number
  readonly forMs: number | undefined
  readonly expiresAt: number | undefined
}

export interface ChangedFact {
  /** The row to write; `undefined` if there is nothing to write. */
  readonly row: FactRow | undefined
  /** The result of the change. */
  readonly revision: number | undefined
}

/** What a change does to a fact: the same in every store that decides it row by row. */
export function changedFact(known: FactRow | undefined, change: FactChange, now: number): ChangedFact {
  const { from, value } = change
  const forMs = change.forMs === undefined ? undefined : Math.ceil(change.forMs)
  const stands = stillStands(known, now)
  if (from === undefined ? stands : !stands || known?.revision !== from)
    return { row: shortened(known, now), revision: undefined }
  const isSame = stands && known?.value === value
  const revision = isSame ? known.revision : Math.max((known?.revision ?? 0) + 1, now * 1_000)
  return { row: { value, revision, forMs, expiresAt: forMs === undefined ? undefined : now + forMs }, revision }
}

/** Whether a fact is there and has not expired. */
export function stillStands(known: FactRow | undefined, now: number): known is FactRow {
  return known !== undefined && (known.expiresAt === undefined || known.expiresAt > now)
}

/** No fact expires later than its `forMs` from now, unless the clock was ahead when it was made. */
function shortened(known: FactRow | undefined, now: number): FactRow | undefined {
  if (known?.forMs === undefined || known.expiresAt === undefined || known.expiresAt <= now + known.forMs)
    return undefined
  return { ...known, expiresAt: now + known.forMs }
}

/** The part of a fact's name before the first space. */
export function kindOfFact(name: string): string {
  return name.split(' ', 1)[0] as string
}

/** The order of `Facts.list`, for stores that sort in code. */
export function latestFactFirst(a: NamedFact, b: NamedFact): number {
  return b.revision - a.revision || (a.name < b.name ? 1 : -1)
}
