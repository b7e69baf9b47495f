import { readFileSync, writeFileSync } from 'node:fs'
import { fromRoot } from '../../tools/repo.ts'

/** The parts of the page that the command writes; everything else is written by hand. */
export type PagePart = 'machine' | 'speed' | 'correctness'

const pagePath = 'docs/benchmarks.md'

/** Replaces what is between the markers of each part and leaves the rest alone. */
export function replaceParts(page: string, parts: Readonly<Partial<Record<PagePart, string>>>): string {
  let text = page
  for (const [name, content] of Object.entries(parts)) {
    const begin = `<!-- generated: ${name} -->`
    const end = `<!-- end: ${name} -->`
    const from = text.indexOf(begin)
    const to = text.indexOf(end)
    if (from < 0 || to < from) throw new Error(`${pagePath} has no part between ${begin} and ${end}.`)
    text = `${text.slice(0, from + begin.length)}\n\n${content.trim()}\n\n${text.slice(to)}`
  }
  return text
}

export function writeParts(parts: Readonly<Partial<Record<PagePart, string>>>): void {
  const path = fromRoot(pagePath)
  writeFileSync(path, replaceParts(readFileSync(path, 'utf8'), parts))
}
