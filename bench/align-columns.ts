import type { Lines } from './suite.ts'

/** Text to the left, figures to the right, as a table that Markdown understands too. */
export function alignColumns(lines: Lines): string {
  const [head = [], ...body] = lines
  const isFigure = head.map((_, column) => body.every((line) => /^[\d<-]/.test(line[column] ?? '-')))
  const widths = head.map((_, column) => Math.max(3, ...lines.map((line) => (line[column] ?? '').length)))
  const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const aligned = (line: readonly string[]) =>
    row(widths.map((width, i) => (isFigure[i] ? (line[i] ?? '').padStart(width) : (line[i] ?? '').padEnd(width))))
  const rule = row(widths.map((width, i) => (isFigure[i] ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width))))
  return [aligned(head), rule, ...body.map(aligned)].join('\n')
}
