import type { StoredParkedMessage, Tally, TallyColumn } from '../../contracts/index.ts'

/** For stores that count in JavaScript. */
export function tallyRows<By extends TallyColumn>(
  rows: Iterable<Pick<StoredParkedMessage, By | 'parkedAt' | 'changedAt'>>,
  by: readonly By[],
  limit = Number.POSITIVE_INFINITY,
): Tally<By>[] {
  const found = new Map<string, { count: number; firstAt: Date; lastAt: Date }>()
  for (const row of rows) {
    const name = JSON.stringify(by.map((column) => row[column]))
    const known = found.get(name) ?? { count: 0, firstAt: row.parkedAt, lastAt: row.changedAt }
    known.count++
    if (row.parkedAt < known.firstAt) known.firstAt = row.parkedAt
    if (row.changedAt > known.lastAt) known.lastAt = row.changedAt
    found.set(name, known)
  }
  return [...found]
    .sort(([a, { count: ofA }], [b, { count: ofB }]) => ofB - ofA || (a < b ? -1 : 1))
    .slice(0, limit)
    .map(([name, { count, ...times }]) => {
      // JSON has no undefined: a row without an order key has null here.
      const values = (JSON.parse(name) as unknown[]).map((value) => value ?? undefined)
      const columns = Object.fromEntries(by.map((column, place) => [column, values[place]]))
      return { ...columns, count, ...(by.length > 0 && times) } as unknown as Tally<By>
    })
}
