import { expect, test } from 'vitest'
import { findBrokenExports } from '../../tools/checks/exports.ts'
import { findTarballProblems, findUnpackedLinks } from '../../tools/checks/tarball.ts'
import { importableNames } from '../../tools/package-exports.ts'

const exports = {
  '.': { 'justonce-source': './src/index.ts', types: './dist/index.d.ts', default: './dist/index.js' },
  './package.json': './package.json',
}

test('every target of exports must exist', () => {
  expect(findBrokenExports(exports, () => true)).toEqual([])
  expect(findBrokenExports(exports, (path) => !path.endsWith('.d.ts'))).toEqual([
    expect.stringContaining('./dist/index.d.ts'),
  ])
  expect(findBrokenExports({ './x': { default: './dist/x.js' } }, () => true)).toHaveLength(2)
})

test('the names a user imports', () => {
  expect(importableNames({ ...exports, './sqlite': './x.js' })).toEqual(['justonce', 'justonce/sqlite'])
})

test('the tarball holds the build and its pages, nothing else', () => {
  const packed = [
    'package.json',
    'README.md',
    'README.zh-CN.md',
    'LICENSE',
    'CHANGELOG.md',
    'CONTRIBUTING.md',
    'docs/start.md',
    'dist/index.js',
    'dist/dashboard/page.generated.js',
  ]
  expect(findTarballProblems(packed)).toEqual([])
  expect(findTarballProblems([...packed, 'src/index.ts'])).toHaveLength(1)
  expect(findTarballProblems([...packed, 'dist/x.test.js'])).toHaveLength(1)
  expect(findTarballProblems(packed.slice(1))).toHaveLength(1)
  expect(findTarballProblems(packed.slice(0, -1))).toHaveLength(1)
})

test('what the README leads to is in the tarball', () => {
  const readme = '[a](docs/start.md#one) [b](https://example.org) [c](#here) ![d](docs/picture.png)'
  expect(findUnpackedLinks({ path: 'README.md', text: readme }, ['docs/start.md', 'docs/picture.png'])).toEqual([])
  expect(findUnpackedLinks({ path: 'README.md', text: readme }, ['docs/start.md'])).toEqual([
    expect.stringContaining('docs/picture.png'),
  ])
})
