import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fromRoot } from '../../tools/repo.ts'

const folder = fromRoot('bench/peers')

/** The libraries are a package of their own, so that nobody else has to install them. */
export function installPeers(say: (line: string) => void): void {
  if (existsSync(`${folder}/node_modules`)) return
  say('installing the other libraries into bench/peers/node_modules (npm ci)')
  execFileSync('npm', ['ci'], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
}

export function versionOf(name: string): string {
  const file = `${folder}/node_modules/${name}/package.json`
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}
