export function thousands(number: number): string {
  return number.toLocaleString('en-US')
}

export function money(cents: number): string {
  return `$${thousands(Math.trunc(cents / 100))}.${String(cents % 100).padStart(2, '0')}`
}

export function times(count: number, noun: string): string {
  return `${thousands(count)} ${noun}${count === 1 ? '' : 's'}`
}

export function duration(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`
}

/** Breaks a text into lines that fit a narrow terminal, indented by two. */
export function paragraph(text: string): string {
  const lines: string[] = ['']
  for (const word of text.split(/\s+/)) {
    const line = lines.at(-1) as string
    if (line.length + word.length > 75) lines.push(word)
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`
  }
  return lines.map((line) => `  ${line}`).join('\n')
}

/** A terminal that says it cannot show more gets plain characters. */
const locale = process.env.LC_ALL || process.env.LC_CTYPE || process.env.LANG || 'UTF-8'
const isUnicode = /utf-?8/i.test(locale) && process.env.TERM !== 'linux'
const [full, empty, dash] = isUnicode ? ['█', '░', '─'] : ['#', '.', '-']

/** While workers die, a broker may for a moment count what is left twice: then there is less than nothing done. */
export function bar(part: number, width: number): string {
  const filled = Math.floor(Math.min(Math.max(part, 0), 1) * width)
  return full.repeat(filled) + empty.repeat(width - filled)
}

export function rule(width: number): string {
  return dash.repeat(width)
}

export interface Paint {
  good(text: string): string
  bad(text: string): string
  strong(text: string): string
}

export function paint(isColourful: boolean): Paint {
  const wrap = (code: number) => (text: string) => (isColourful ? `\x1b[${code}m${text}\x1b[0m` : text)
  return { good: wrap(32), bad: wrap(31), strong: wrap(1) }
}
