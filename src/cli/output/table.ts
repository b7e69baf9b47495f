import type { Output } from '../terminal.ts'

export interface Column<Row> {
  readonly title: string
  readonly of: (row: Row) => string | number | undefined
  /** It may be cut where the terminal is too narrow; the last ones first. */
  readonly cut?: boolean | undefined
}

const gap = 2
const leastWidth = 8

/** A table that fits the terminal. In a pipe nothing is cut. */
export function table<Row>(rows: readonly Row[], columns: readonly Column<Row>[], out: Output): string {
  const cells = rows.map((row) => columns.map(({ of }) => cellOf(of(row))))
  const isNumber = columns.map(({ of }) => rows.length > 0 && rows.every((row) => typeof (of(row) ?? 0) === 'number'))
  const wanted = columns.map(({ title }, place) =>
    Math.max(title.length, ...cells.map((row) => (row[place] as string).length)),
  )
  const widths = out.isTTY ? fitted(wanted, columns, out.columns ?? 80) : wanted
  const line = (texts: readonly string[]): string =>
    texts
      .map((text, place) =>
        padded(shortened(text, widths[place] as number), widths[place] as number, isNumber[place] === true),
      )
      .join(' '.repeat(gap))
      .trimEnd()
  return [line(columns.map(({ title }) => title.toUpperCase())), ...cells.map(line)].map((each) => `${each}\n`).join('')
}

/** Takes from columns that may be cut, the widest first, until all of them fit. */
function fitted<Row>(wanted: readonly number[], columns: readonly Column<Row>[], most: number): readonly number[] {
  const widths = [...wanted]
  const total = (): number => widths.reduce((sum, width) => sum + width + gap, -gap)
  while (total() > most) {
    const widest = widths.reduce(
      (best, width, place) => {
        if (columns[place]?.cut !== true || width <= leastWidth) return best
        return best === undefined || width >= (widths[best] as number) ? place : best
      },
      undefined as number | undefined,
    )
    if (widest === undefined) break
    widths[widest] = (widths[widest] as number) - 1
  }
  return widths
}

function cellOf(value: string | number | undefined): string {
  return onOneLine(value === undefined ? '–' : String(value))
}

/** Whatever a message brings must not reach the terminal as anything but text, nor turn the order of what is read. */
export function onOneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '�')
}

function shortened(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, Math.max(1, width - 1))}…`
}

function padded(text: string, width: number, toTheRight: boolean): string {
  return toTheRight ? text.padStart(width) : text.padEnd(width)
}
