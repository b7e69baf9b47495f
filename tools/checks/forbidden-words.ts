import { homedir } from 'node:os'
import { type RepoFile, readRepoFiles, repoRoot } from '../repo.ts'
import type { Check } from './check.ts'

interface ForbiddenWord {
  pattern: RegExp
  why: string
}

// Written so that no pattern matches its own source.
const forbiddenWords: readonly ForbiddenWord[] = [
  {
    pattern: /(?<![\w.~:\-/}])\/(?:root|home|Users|work|workspace|mnt)\/[\w.]/,
    why: 'an absolute path of one machine',
  },
  { pattern: /\b[A-Z]:\\+Users\\/, why: 'an absolute path of one machine' },
  {
    pattern: /\/\/[^\s/"'`]*(?:registry|artifactory|verdaccio|nexus)[^\s/"'`]*/i,
    why: 'a registry host: the reader has their own',
  },
  {
    pattern: /(?<![\d.])(?:10\.\d+|192\.168|172\.(?:1[6-9]|2\d|3[01]))\.\d+\.\d+(?![\d.])/,
    why: 'an address in a private network',
  },
  { pattern: /\b(?:TO-?DO|FIX-?ME)\b(?!.*https?:\/\/)/, why: 'an open end without a link to its issue' },
]

/** `places` are folders of the machine the check runs on; they mean nothing to a reader. */
export function findForbiddenWords(files: readonly RepoFile[], places: readonly string[] = []): string[] {
  const problems: string[] = []
  for (const { path, text } of files) {
    if (text.includes('\0')) continue
    text.split('\n').forEach((line, index) => {
      for (const { pattern, why } of forbiddenWords) {
        const found = pattern.exec(line)
        if (found !== null) problems.push(`${path}:${index + 1} '${found[0].trim()}': ${why}`)
      }
      for (const place of places)
        if (isAbsolutePathIn(line, place))
          problems.push(`${path}:${index + 1} '${place}': an absolute path of this machine`)
    })
  }
  return problems
}

/** `place` starts with a slash; after a name or a dot it is the tail of a longer, relative path. */
function isAbsolutePathIn(line: string, place: string): boolean {
  const at = line.indexOf(place)
  return at === 0 || (at > 0 && !/[\w.~-]/.test(line[at - 1] as string))
}

export const forbiddenWordsCheck: Check = {
  name: 'forbidden-words',
  async run() {
    const places = [repoRoot, homedir()].map((place) => `${place}/`).filter((place) => place.length > 3)
    return {
      problems: findForbiddenWords(
        readRepoFiles(() => true),
        places,
      ),
    }
  },
}
