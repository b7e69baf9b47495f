import { type RepoFile, readRepoFiles } from '../repo.ts'
import type { Check } from './check.ts'

const pagePath = 'docs/internals/architecture.md'

/** A name in backticks, perhaps with the file that it is in: `Consumer.#work` (`consumer/consumer.ts`). */
const named = /`(?<name>[^`\n]+)`(?:\s*\(`(?<file>[^`\n]+\.ts)`\))?/g
const identifier = /^#?[A-Za-z]\w*(?:\.#?[A-Za-z]\w*)*$/

/** A reader with an editor open must find every file that the page names, and every name of a walk in the file beside it. */
export function findStaleNames(page: string, sources: readonly RepoFile[]): string[] {
  const filesCalled = (name: string) => sources.filter(({ path }) => `/${path}`.endsWith(`/${name}`))
  const code = sources.filter(({ path }) => path.startsWith('src/'))
  const walks = sectionOf(page, '## Three walks')
  const missing = [...page.matchAll(/`([^`\n]+\.ts)`/g)]
    .map(([, file = '']) => file)
    .filter((file) => filesCalled(file).length === 0)
    .map((file) => `${pagePath} names ${file}, and there is no such file`)
  for (const { groups: { name = '', file } = {} } of walks.matchAll(named)) {
    if (name.endsWith('.ts') || !identifier.test(name)) continue
    // A file may hold a part of what a name leads to: `operations.letters.redrive`.
    const [places, words] =
      file === undefined ? [code, name.split('.')] : [filesCalled(file), name.split('.').slice(-1)]
    const isThere = places.some(({ text }) => words.every((word) => hasWord(text, word)))
    if (!isThere) missing.push(`${pagePath} names ${name}, and it is not in ${file ?? 'any file'}`)
  }
  return [...new Set(missing)]
}

function sectionOf(page: string, title: string): string {
  const [, after = ''] = page.split(`${title}\n`)
  return after.split(/^## /m)[0] as string
}

function hasWord(text: string, word: string): boolean {
  return new RegExp(`(?<![\\w#])${word}\\b`).test(text)
}

export const architecturePageCheck: Check = {
  name: 'architecture-page',
  async run() {
    const [page] = readRepoFiles((path) => path === pagePath)
    const sources = readRepoFiles((path) => /^(?:src|test)\/.*\.ts$/.test(path))
    return { problems: findStaleNames(page?.text ?? '', sources) }
  },
}
