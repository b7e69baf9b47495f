import { type RepoFile, readRepoFiles } from '../repo.ts'
import type { Check, CheckResult } from './check.ts'

interface Limit {
  applies(path: string): boolean
  warnAbove: number
  failAbove: number
}

/** The first limit that applies counts. */
const limits: readonly Limit[] = [
  { applies: (path) => path === 'src/index.ts', warnAbove: 60, failAbove: 100 },
  { applies: (path) => path.endsWith('.test.ts') || path.startsWith('test/'), warnAbove: 600, failAbove: 600 },
  { applies: () => true, warnAbove: 300, failAbove: 400 },
]

export function findLargeFiles(files: readonly RepoFile[]): CheckResult {
  const problems: string[] = []
  const warnings: string[] = []
  for (const { path, text } of files) {
    const lines = text.split('\n').length - (text.endsWith('\n') ? 1 : 0)
    const limit = limits.find(({ applies }) => applies(path))
    if (limit === undefined || lines <= limit.warnAbove) continue
    if (lines > limit.failAbove) problems.push(`${path} has ${lines} lines; the limit is ${limit.failAbove}`)
    else warnings.push(`${path} has ${lines} lines; aim below ${limit.warnAbove}`)
  }
  return { problems, warnings }
}

export const fileSizeCheck: Check = {
  name: 'file-size',
  async run() {
    return findLargeFiles(readRepoFiles((path) => /\.tsx?$/.test(path)))
  },
}
