import { type CodeBlock, findCodeBlocks } from '../code-blocks.ts'
import { type RepoFile, readRepoFiles } from '../repo.ts'
import type { Check } from './check.ts'

/** The translated pages, and what they are translated from. */
export const translations: readonly (readonly [translated: string, original: string])[] = [
  ['README.zh-CN.md', 'README.md'],
  ['docs/zh-CN/start.md', 'docs/start.md'],
  ['docs/zh-CN/choosing.md', 'docs/guides/choosing.md'],
  ['docs/zh-CN/semantics.md', 'docs/guides/semantics.md'],
  ['docs/zh-CN/schemes.md', 'docs/guides/schemes.md'],
]

/** A translation has the same headings, tables and programs as its original. Words, comments and pictures may differ. */
export function findDrift(translated: RepoFile, original: RepoFile): string[] {
  const from = `${translated.path} differs from ${original.path}`
  const problems: string[] = []
  const levels = (page: RepoFile) => headingLevels(page).join(' ')
  if (levels(translated) !== levels(original))
    problems.push(`${from}: its headings have the levels ${levels(translated)} instead of ${levels(original)}`)
  if (rowCounts(translated) !== rowCounts(original))
    problems.push(`${from}: its tables have ${rowCounts(translated)} rows instead of ${rowCounts(original)}`)
  const [ours, theirs] = [findCodeBlocks(translated), findCodeBlocks(original)]
  if (ours.length !== theirs.length)
    return [...problems, `${from}: it has ${ours.length} code blocks instead of ${theirs.length}`]
  const changed = ours.filter((block, index) => !isSame(block, theirs[index] as CodeBlock))
  return [...problems, ...changed.map(({ line }) => `${from} in the code at line ${line}`)]
}

function isSame(one: CodeBlock, other: CodeBlock): boolean {
  if (one.language !== other.language || one.words.join() !== other.words.join()) return false
  return one.language === 'text' || withoutComments(one.code) === withoutComments(other.code)
}

function withoutComments(code: string): string {
  return code.replace(/(^|\s)\/\/ .*$/gm, '').replace(/\s+$/gm, '')
}

function headingLevels(page: RepoFile): number[] {
  return [...withoutBlocks(page).matchAll(/^(#+) /gm)].map(([, marks = '']) => marks.length)
}

function rowCounts(page: RepoFile): string {
  const tables = withoutBlocks(page).match(/(?:^\|.*\n)+/gm) ?? []
  return tables.map((table) => table.trim().split('\n').length).join(' ')
}

function withoutBlocks({ text }: RepoFile): string {
  return text.replace(/^```[\s\S]*?^```$/gm, '')
}

export const translationsCheck: Check = {
  name: 'translations',
  async run() {
    const pages = readRepoFiles((path) => path.endsWith('.md'))
    const page = (path: string) => pages.find((each) => each.path === path)
    const drift = translations.flatMap(([translated, original]) => {
      const [ours, theirs] = [page(translated), page(original)]
      return ours && theirs ? findDrift(ours, theirs) : [`${translated} or ${original} is missing`]
    })
    const strangers = pages.filter(
      ({ path }) => path.startsWith('docs/zh-CN/') && !translations.some(([translated]) => translated === path),
    )
    return { problems: [...drift, ...strangers.map(({ path }) => `${path} is compared with nothing`)] }
  },
}
