import { execFileSync } from 'node:child_process'
import { chownSync } from 'node:fs'

/** Options for `spawn`; empty means the current user. */
export interface RunAs {
  readonly uid?: number
  readonly gid?: number
}

/** Some servers refuse to run as root; then their package has created a user for them. */
export function insteadOfRoot(user: string): RunAs {
  if (process.getuid?.() !== 0) return {}
  return { uid: idOf(user, '-u'), gid: idOf(user, '-g') }
}

export function giveTo(runAs: RunAs, path: string): void {
  if (runAs.uid !== undefined && runAs.gid !== undefined) chownSync(path, runAs.uid, runAs.gid)
}

function idOf(user: string, which: '-u' | '-g'): number {
  return Number(execFileSync('id', [which, user], { encoding: 'utf8' }))
}
