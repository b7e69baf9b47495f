import type { Tally, TallyColumn } from '../../contracts/index.ts'

/** `inMs` wraps a time expression so that it yields milliseconds. */
export function tallySql(
  { table, where, limit }: { readonly table: string; readonly where: string; readonly limit: string },
  by: readonly TallyColumn[],
  inMs: (time: string) => string = (time) => time,
): string {
  if (by.length === 0) return `SELECT count(*) FROM ${table} WHERE ${where} HAVING count(*) > 0 LIMIT ${limit}`
  const columns = by.join(', ')
  return `SELECT ${columns}, count(*) AS counted, ${inMs('min(parked_at)')}, ${inMs('max(changed_at)')}
    FROM ${table} WHERE ${where} GROUP BY ${columns} ORDER BY counted DESC, ${columns} LIMIT ${limit}`
}

/** Reads a row of that query: the columns, the count and the times. */
export function tallyIn<By extends TallyColumn>(by: readonly By[]): (row: readonly unknown[]) => Tally<By> {
  return (row) => {
    const texts = row.map(String)
    const columns = Object.fromEntries(by.map((column, place) => [column, valueIn(column, texts[place] ?? '')]))
    const [count, firstAt, lastAt] = texts.slice(by.length).map(Number)
    const times = by.length > 0 && { firstAt: new Date(firstAt as number), lastAt: new Date(lastAt as number) }
    return { ...columns, count, ...times } as unknown as Tally<By>
  }
}

function valueIn(column: TallyColumn, text: string): string | number | boolean {
  if (column === 'released') return text === 't' || text === '1'
  return column === 'attempts' ? Number(text) : text
}
