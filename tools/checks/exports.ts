import { existsSync } from 'node:fs'
import { build } from '../build.ts'
import { importableNames, type PackageExports, readPackageExports } from '../package-exports.ts'
import { fromRoot } from '../repo.ts'
import { nonEmptyLines, run } from '../run.ts'
import type { Check } from './check.ts'

const neededConditions = ['justonce-source', 'types', 'default'] as const

/** Every entry names a source, types and a module, and all of them are files. */
export function findBrokenExports(exports: PackageExports, exists: (path: string) => boolean): string[] {
  return Object.entries(exports).flatMap(([key, target]) => {
    if (typeof target === 'string') return exists(target) ? [] : [`${key}: ${target} does not exist`]
    return neededConditions.flatMap((condition) => {
      const path = target[condition]
      if (path === undefined) return [`${key}: has no "${condition}"`]
      return exists(path) ? [] : [`${key}: ${condition} is ${path}, which does not exist`]
    })
  })
}

/** One process per entry, so that no entry works only because another was loaded before it. */
async function findFailingImports(names: readonly string[]): Promise<string[]> {
  const problems: string[] = []
  for (const name of names) {
    const { ok, output } = await run(process.execPath, ['--input-type=module', '--eval', `await import('${name}')`])
    if (!ok) problems.push(`import('${name}') fails: ${output.trim()}`)
  }
  return problems
}

export const exportsCheck: Check = {
  name: 'exports',
  async run() {
    const built = await build()
    if (!built.ok) return { problems: ['the build failed', ...nonEmptyLines(built.output)] }
    const exports = readPackageExports()
    const broken = findBrokenExports(exports, (path) => existsSync(fromRoot(path)))
    return { problems: broken.length > 0 ? broken : await findFailingImports(importableNames(exports)) }
  },
}
