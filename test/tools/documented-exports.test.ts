import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { readPackageExports } from '../../tools/package-exports.ts'
import { fromRoot } from '../../tools/repo.ts'

// The reference lists every name by itself; here the question is whether somebody has written about it.
const written = globSync('docs/**/*.md', { cwd: fromRoot('.') }).filter((page) => !/reference[/\\]api/.test(page))
const pages = ['README.md', ...written]
const docs = pages.map((page) => readFileSync(fromRoot(page), 'utf8')).join('\n')
const entries = Object.entries(readPackageExports()).flatMap(([name, target]) =>
  typeof target === 'string' ? [] : [[name, target['justonce-source'] ?? ''] as const],
)

test.each(entries)('everything that %s exports, except types, is in the docs', async (_, source) => {
  const exported = Object.keys(await import(fromRoot(source)))
  expect(exported).not.toEqual([])
  expect(exported.filter((name) => !new RegExp(`\\b${name}\\b`).test(docs))).toEqual([])
})
