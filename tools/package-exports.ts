import { readRepoJson } from './repo.ts'

type ExportTarget = string | { 'justonce-source'?: string; types?: string; default?: string }
export type PackageExports = Record<string, ExportTarget>

export function readPackageExports(): PackageExports {
  return readRepoJson<{ exports: PackageExports }>('package.json').exports
}

/** What a user writes to import each entry: `justonce`, `justonce/sqlite`, … */
export function importableNames(exports: PackageExports): string[] {
  return Object.keys(exports)
    .filter((key) => key !== './package.json')
    .map((key) => `justonce${key.slice(1)}`)
}
