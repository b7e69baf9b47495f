/** Breaks a text at spaces into lines of at most `width` characters. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line)
      line = ''
    }
    line = line === '' ? word : `${line} ${word}`
  }
  return line === '' ? lines : [...lines, line]
}

/** A heading in the left margin, with lines beside it. */
export function beside(heading: string, lines: readonly string[], margin: number): string[] {
  return lines.map((line, index) => `${(index === 0 ? heading : '').padEnd(margin)}${line}`.trimEnd())
}

export function indent(lines: readonly string[], by: number): string[] {
  return lines.map((line) => (line === '' ? '' : `${' '.repeat(by)}${line}`))
}
