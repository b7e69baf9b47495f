import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const repoRoot = join(import.meta.dirname, '..')

export function fromRoot(path: string): string {
  return join(repoRoot, path)
}

export interface RepoFile {
  /** Relative to the root of the repository, with forward slashes. */
  path: string
  text: string
}

/** Every file git tracks or would track, so that a forgotten `git add` hides nothing. */
export function listRepoPaths(): string[] {
  const output = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: repoRoot,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  const paths = new Set(output.split('\0').filter((path) => path !== ''))
  return [...paths].filter((path) => existsSync(fromRoot(path))).sort()
}

export function readRepoFiles(wanted: (path: string) => boolean): RepoFile[] {
  return listRepoPaths()
    .filter(wanted)
    .map((path) => ({ path, text: readFileSync(fromRoot(path), 'utf8') }))
}

export function readRepoJson<T>(path: string): T {
  return JSON.parse(readFileSync(fromRoot(path), 'utf8')) as T
}

/** A scratch folder inside the package, where `import 'justonce'` means the package itself. */
export function makeScratchFolder(name: string): string {
  mkdirSync(fromRoot('.cache'), { recursive: true })
  return mkdtempSync(fromRoot(`.cache/${name}-`))
}
