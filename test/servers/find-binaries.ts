import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Binaries } from './server.ts'

/** The first folder that has all of the programs: those given, then PATH. Never a mix of two installations. */
export function findBinaries(names: readonly string[], folders: readonly string[] = []): Binaries | undefined {
  // Elsewhere the tests use a URL: the servers are followed and killed through Linux's /proc.
  if (process.platform !== 'linux') return undefined
  const candidates = [...folders, ...(process.env.PATH ?? '').split(':')]
  const folder = candidates.find((each) => names.every((name) => existsSync(join(each, name))))
  return folder === undefined ? undefined : Object.fromEntries(names.map((name) => [name, join(folder, name)]))
}
