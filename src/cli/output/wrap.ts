import type { Output } from '../terminal.ts'
import { widthOf } from './width.ts'

/** A command to copy stays on one line: half of it would be another command. */
const command = /: justonce [a-z-]+ /

/** Text whose long lines end between words, and go on below where they began. In a pipe it stays as it is. */
export function wrapped(text: string, out: Output): string {
  if (!out.isTTY) return text
  const most = out.columns ?? 80
  return text
    .split('\n')
    .map((line) => (widthOf(line) <= most || command.test(line) ? line : wrappedLine(line, most)))
    .join('\n')
}

function wrappedLine(line: string, most: number): string {
  // What is named at the beginning of a line, such as an option, stands alone in its column.
  const [named = ''] = /^ *(?:\S+(?: \S+)* {2,})?/.exec(line) ?? []
  const indent = ' '.repeat(Math.min(named.length, Math.floor(most / 2)))
  const lines: string[] = []
  let current = named
  for (const word of line.slice(named.length).split(' ')) {
    const isFirst = current === named || current === indent
    if (!isFirst && widthOf(current) + 1 + widthOf(word) > most) {
      lines.push(current)
      current = indent + word
    } else current += isFirst ? word : ` ${word}`
  }
  return [...lines, current].join('\n')
}
