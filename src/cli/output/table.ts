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
    Math.max(title.length, ...cells.map((row) => widthOf(row[place] as string))),
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

/** The same for texts that have lines and indentation, such as an error with advice below it. */
export function plainLines(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n\t]|[\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '�')
}

function shortened(text: string, width: number): string {
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

const wide =
  /[\p{Emoji_Presentation}\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/u

/** In columns of a terminal: Chinese, Japanese and Korean characters and most emoji take two. */
function widthOf(text: string): number {
  let width = 0
  for (const character of text) width += wide.test(character) ? 2 : 1
  return width
}
