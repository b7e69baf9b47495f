import { posix } from 'node:path'
import { findCodeBlocks, readPages } from '../code-blocks.ts'
import { listRepoPaths, type RepoFile, readRepoFiles } from '../repo.ts'
import type { Check } from './check.ts'

const guaranteesPath = 'docs/reference/guarantees.md'

/** A page must not promise what is elsewhere if it is not there: every file and every heading that a link leads to exists. */
export function findDeadLinks(pages: readonly RepoFile[], paths: readonly string[]): string[] {
  const known = new Set(paths.flatMap((path) => [path, ...foldersOf(path)]))
  const headings = new Map(pages.map(({ path, text }) => [path, headingsOf(text)]))
  return pages.flatMap((page) =>
    [...withoutCode(page).matchAll(/\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]+))?\)/g)].flatMap(([, file = '', heading]) => {
      const target = file === '' ? page.path : posix.normalize(posix.join(posix.dirname(page.path), file))
      if (!known.has(target.replace(/\/$/, ''))) return [`${page.path} leads to ${target}, and there is no such file`]
      if (heading === undefined || (headings.get(target)?.has(heading) ?? true)) return []
      return [`${page.path} leads to #${heading} of ${target}, and there is no such heading`]
    }),
  )
}

/**
 * Every guarantee names the tests that fail when it is broken. They are named by the topic of their cases, with a link to
 * the file that has them, and by the exhibits of the museum.
 */
export function findMissingTests(guarantees: string, sources: readonly RepoFile[]): string[] {
  const problems: string[] = []
  for (const [, topic, file = ''] of guarantees.matchAll(/\[`([a-z ]+):`(?: cases?)?\]\(([^)]+)\)/g)) {
    const path = posix.normalize(posix.join(posix.dirname(guaranteesPath), file))
    const source = sources.find((each) => each.path === path)?.text ?? ''
    if (!source.includes(`name: '${topic}: `)) problems.push(`${path} has no case called '${topic}: …'`)
  }
  const museum = sources.filter(({ path }) => path.startsWith('test/simulator/museum/'))
  for (const [, names = ''] of guarantees.matchAll(/exhibits? (`[^|;]*`)/g))
    for (const [, name = ''] of names.matchAll(/`([^`]+)`/g))
      if (!museum.some(({ text }) => text.includes(`name: '${name}'`))) problems.push(`no exhibit is called ${name}`)
  for (const row of guarantees.matchAll(/^\| (?<what>.+?) \|.*$/gm))
    if (!/\]\(|^\| -|the test that fails/.test(row[0])) problems.push(`no test is named for: ${row.groups?.what}`)
  return problems.map((problem) => `${guaranteesPath}: ${problem}`)
}

function withoutCode(page: RepoFile): string {
  return findCodeBlocks(page).reduce((text, { code }) => (code === '' ? text : text.replace(code, '')), page.text)
}

/** As the usual sites make them: small letters, hyphens for spaces, and nothing else but letters and digits. */
function headingsOf(text: string): Set<string> {
  const titles = [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => title.trim().toLowerCase())
  return new Set(titles.map((title) => title.replace(/[^\p{L}\p{N}_\- ]/gu, '').replaceAll(' ', '-')))
}

function foldersOf(path: string): string[] {
  const parts = path.split('/').slice(0, -1)
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'))
}

export const linksCheck: Check = {
  name: 'links',
  async run() {
    const files = readRepoFiles((path) => /^(?:src|test)\/.*\.ts$|\.md$/.test(path))
    const pages = [...readPages(), ...files.filter(({ path }) => /^[A-Z]+\.md$/.test(path) && path !== 'README.md')]
    const guarantees = pages.find(({ path }) => path === guaranteesPath)?.text ?? ''
    return { problems: [...findDeadLinks(pages, listRepoPaths()), ...findMissingTests(guarantees, files)] }
  },
}
