import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fromRoot } from './repo.ts'
import { run } from './run.ts'

/** Versions of Node the package must run on besides the one the repository is developed on. */
const pinnedVersions = { 22: '22.23.3', 24: '24.21.0' } as const

export interface OtherNode {
  version: string
  /** Undefined where this version cannot be had, for example on a platform without a binary. */
  executable: string | undefined
  output: string
}

/** Installs each version once; later runs find it in the cache. */
export async function obtainOtherNodes(): Promise<OtherNode[]> {
  const nodes: OtherNode[] = []
  for (const [major, version] of Object.entries(pinnedVersions)) nodes.push(await obtain(major, version))
  return nodes
}

async function obtain(major: string, version: string): Promise<OtherNode> {
  const folder = fromRoot(`node_modules/.cache/justonce-nodes/${major}`)
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
  const executable = join(folder, 'node_modules', name, 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
  if (await hasVersion(executable, version)) return { version, executable, output: '' }
  mkdirSync(folder, { recursive: true })
  // Without a package.json of its own, npm would install into the repository.
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true }))
  const args = ['install', '--no-save', '--no-package-lock', '--ignore-scripts', `${name}@${version}`]
  const { output } = await run('npm', args, { cwd: folder })
  return { version, executable: (await hasVersion(executable, version)) ? executable : undefined, output }
}

async function hasVersion(executable: string, version: string): Promise<boolean> {
  if (!existsSync(executable)) return false
  const { ok, stdout } = await run(executable, ['--version'])
  return ok && stdout.trim() === `v${version}`
}
