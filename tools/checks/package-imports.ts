import { isPublishedSource, isRelative, scanImports } from '../imports.ts'
import { type RepoFile, readRepoFiles } from '../repo.ts'
import type { Check } from './check.ts'

/** Clients are accepted by shape, so a published source names no package, not even for a type. */
export function findPackageImports(files: readonly RepoFile[]): string[] {
  return files.flatMap((file) =>
    scanImports(file.text)
      .filter(({ specifier }) => !isRelative(specifier) && !specifier.startsWith('node:'))
      .map(
        ({ specifier, line }) => `${file.path}:${line} imports the package '${specifier}': describe its shape instead`,
      ),
  )
}

export const packageImportsCheck: Check = {
  name: 'package-imports',
  async run() {
    return { problems: findPackageImports(readRepoFiles(isPublishedSource)) }
  },
}
