import type { Output } from '../terminal.ts'
import { widthOf } from './width.ts'

export interface Column<Row> {
  readonly title: string
  readonly of: (row: Row) => string | number | undefined
  /** Says it in fewer characters, where the terminal is too narrow. */
  readonly short?: (row: Row) => string | number | undefined
  /** It may be cut where the terminal is too narrow; the last ones first. */
  readonly cut?: boolean | undefined
  /** It is left out where the others would have to be cut to nothing. */
  readonly spare?: boolean | undefined
}

const gap = 2
const leastWidth = 8
/** What is cut to less says nothing any more. */
const readableWidth = 14

/** A table that fits the terminal. In a pipe nothing is cut. */
export function table<Row>(rows: readonly Row[], given: readonly Column<Row>[], out: Output): string {
  const most = out.isTTY ? (out.columns ?? 80) : Number.POSITIVE_INFINITY
  const isFitting = total(widthsOf(rows, given)) <= most
  const shortened = isFitting ? given : given.map(({ short, ...column }) => ({ ...column, of: short ?? column.of }))
  const columns = withoutSpare(rows, shortened, most)
  const cells = rows.map((row) => columns.map(({ of }) => cellOf(of(row))))
  const isNumber = columns.map(({ of }) => rows.length > 0 && rows.every((row) => typeof (of(row) ?? 0) === 'number'))
  const widths = fitted(widthsOf(rows, columns), columns, most)
  const line = (texts: readonly string[]): string =>
    texts
      .map((text, place) =>
        padded(cutTo(text, widths[place] as number), widths[place] as number, isNumber[place] === true),
      )
      .join(' '.repeat(gap))
      .trimEnd()
  return [line(columns.map(({ title }) => title.toUpperCase())), ...cells.map(line)].map((each) => `${each}\n`).join('')
}

function widthsOf<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): readonly number[] {
  return columns.map(({ title, of }) => Math.max(title.length, ...rows.map((row) => widthOf(cellOf(of(row))))))
}

function total(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width + gap, -gap)
}

function withoutSpare<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  most: number,
): readonly Column<Row>[] {
  const least = widthsOf(rows, columns).map((width, place) =>
    columns[place]?.cut ? Math.min(width, readableWidth) : width,
  )
  const last = columns.findLastIndex(({ spare }) => spare)
  if (last === -1 || total(least) <= most) return columns
  return withoutSpare(rows, columns.toSpliced(last, 1), most)
}

/** Takes from columns that may be cut, the widest first, until all of them fit. */
function fitted<Row>(wanted: readonly number[], columns: readonly Column<Row>[], most: number): readonly number[] {
  const widths = [...wanted]
  while (total(widths) > most) {
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

/** The same for texts that have lines and indentation, such as an error with advice below it. */
export function plainLines(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n\t]|[\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '�')
}

function cutTo(text: string, width: number): string {
  if (widthOf(text) <= width) return text
  let cut = ''
  let left = Math.max(1, width - 1)
  // By characters: half of one is no text.
  for (const character of text) {
    left -= widthOf(character)
    if (left < 0) break
    cut += character
  }
  return `${cut}…`
}

function padded(text: string, width: number, toTheRight: boolean): string {
  const padding = ' '.repeat(Math.max(0, width - widthOf(text)))
  return toTheRight ? padding + text : text + padding
}
