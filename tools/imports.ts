import { posix } from 'node:path'
import type { RepoFile } from './repo.ts'
import { tokenize } from './source-tokens.ts'

export interface Import {
  specifier: string
  line: number
}

/** Every module a source names: import, import type, export … from, import(), import('…').Type and require(). */
export function scanImports(source: string): Import[] {
  const tokens = tokenize(source)
  const found: Import[] = []
  tokens.forEach((token, index) => {
    if (token.kind !== 'string') return
    const [before, beforeThat] = [tokens[index - 1], tokens[index - 2]]
    const named = before?.kind === 'word' && (before.text === 'from' || before.text === 'import')
    const called =
      before?.text === '(' &&
      beforeThat?.kind === 'word' &&
      (beforeThat.text === 'import' || beforeThat.text === 'require')
    if (named || called) found.push({ specifier: token.text, line: token.line })
  })
  return found
}

/** Where a relative import leads, as a path from the root of the repository. */
export function importedPath(file: RepoFile, specifier: string): string {
  return posix.join(posix.dirname(file.path), specifier)
}

export function isRelative(specifier: string): boolean {
  return specifier.startsWith('./') || specifier.startsWith('../') || specifier === '.' || specifier === '..'
}

/** Bundled with its packages into one of the published sources. */
const pageFolder = 'src/dashboard/page/'

/** Sources that are published; unit tests live beside them but may import what they like. */
export function isPublishedSource(path: string): boolean {
  return path.startsWith('src/') && path.endsWith('.ts') && !path.endsWith('.test.ts') && !path.startsWith(pageFolder)
}
