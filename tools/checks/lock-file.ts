import { basename } from 'node:path/posix'
import { listRepoPaths, readRepoJson } from '../repo.ts'
import type { Check, CheckResult } from './check.ts'

interface LockedPackage {
  resolved?: string
  integrity?: string
  link?: boolean
  optional?: boolean
  optionalDependencies?: Record<string, string>
}

export interface LockFile {
  packages: Record<string, LockedPackage>
}

/** A lock file pins content by hash and leaves the place of download to the reader's own npm settings. */
export function findLockFileProblems({ packages }: LockFile): CheckResult {
  const problems: string[] = []
  const unhashed: string[] = []
  for (const [path, locked] of Object.entries(packages)) {
    if (locked.resolved?.includes('://')) problems.push(`${path} is tied to ${locked.resolved}`)
    if (path.includes('node_modules/') && locked.link !== true && locked.integrity === undefined) {
      if (locked.optional === true) unhashed.push(path)
      else problems.push(`${path} has no integrity hash`)
    }
    // npm leaves out a platform's package that it could not look up, and `npm ci` then refuses the file.
    for (const name of Object.keys(locked.optionalDependencies ?? {}))
      if (!isLocked(packages, path, name))
        problems.push(`${name}, optional for ${path}, has no entry: add one with its version, os and cpu`)
  }
  return { problems, warnings: unhashed.length === 0 ? [] : [`optional, without a hash: ${unhashed.join(', ')}`] }
}

function isLocked(packages: LockFile['packages'], dependent: string, name: string): boolean {
  return `${dependent}/node_modules/${name}` in packages || `node_modules/${name}` in packages
}

/** The root's, and that of every package that is installed on its own. */
export function findLockFiles(paths: readonly string[]): string[] {
  return paths.filter((path) => basename(path) === 'package-lock.json')
}

function inFile(path: string, { problems, warnings = [] }: CheckResult): CheckResult {
  const named = (lines: readonly string[]) => lines.map((line) => `${path}: ${line}`)
  return { problems: named(problems), warnings: named(warnings) }
}

export const lockFileCheck: Check = {
  name: 'lock-file',
  async run() {
    const paths = findLockFiles(listRepoPaths())
    const results = paths.map((path) => inFile(path, findLockFileProblems(readRepoJson<LockFile>(path))))
    return {
      problems: results.flatMap(({ problems }) => problems),
      warnings: results.flatMap(({ warnings = [] }) => warnings),
    }
  },
}
