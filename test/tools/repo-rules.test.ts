import { expect, test } from 'vitest'
import { findLargeFiles } from '../../tools/checks/file-size.ts'
import { findForbiddenWords } from '../../tools/checks/forbidden-words.ts'
import { findLockFileProblems, findLockFiles, type LockFile } from '../../tools/checks/lock-file.ts'
import { findPackageImports } from '../../tools/checks/package-imports.ts'
import { findCrowdedRoot } from '../../tools/checks/root-entries.ts'
import { findLargeContract, limits, sizeOfContract } from '../../tools/checks/store-contract.ts'

test('a published source imports no package, not even a type of an optional peer', () => {
  const file = (text: string) => [{ path: 'src/stores/postgres/client.ts', text }]
  expect(findPackageImports(file("import { DatabaseSync } from 'node:sqlite'\nimport './x.ts'"))).toEqual([])
  expect(findPackageImports(file("import type { Pool } from 'pg'"))).toHaveLength(1)
  expect(findPackageImports(file("import { readFile } from 'fs'"))).toHaveLength(1)
})

test('large files warn, then fail; tests may be longer', () => {
  const file = (path: string, lines: number) => [{ path, text: 'x\n'.repeat(lines) }]
  expect(findLargeFiles(file('src/a.ts', 300))).toEqual({ problems: [], warnings: [] })
  expect(findLargeFiles(file('src/a.ts', 301)).warnings).toHaveLength(1)
  expect(findLargeFiles(file('src/a.ts', 401)).problems).toHaveLength(1)
  expect(findLargeFiles(file('src/a.test.ts', 600))).toEqual({ problems: [], warnings: [] })
  expect(findLargeFiles(file('src/a.test.ts', 601)).problems).toHaveLength(1)
  expect(findLargeFiles(file('src/index.ts', 101)).problems).toHaveLength(1)
})

test('the contract of a store is counted by its methods, and fails above the limits', () => {
  const text = `
export interface Inbox<Tx> {
  /** Not a member: count(). */
  claim(tx: Tx, requests: readonly { a: string }[]): Promise<{ readonly epoch: string }>
  list?(
    filter?: string,
    page?: { readonly limit?: number },
  ): Promise<void>
}
export interface Queue<Tx> {
  send(tx: Tx): Promise<() => void>
}
export interface Loan<Tx> {
  readonly tx: Tx
  end(): void
}
export interface Store<Tx = unknown> {
  readonly name: string
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  readonly inbox: Inbox<Tx>
  readonly queue?: Queue<Tx>
}`
  expect(sizeOfContract([{ path: 'src/contracts/store.ts', text }])).toEqual({ required: 3, all: 5 })
  expect(findLargeContract(limits)).toEqual([])
  expect(findLargeContract({ required: limits.required + 1, all: limits.all })).toHaveLength(1)
  expect(findLargeContract({ required: limits.required, all: limits.all + 1 })).toHaveLength(1)
})

test('the root is crowded at 15 visible entries', () => {
  const entries = (count: number) => Array.from({ length: count }, (_, index) => `entry-${index}/file.ts`)
  expect(findCrowdedRoot([...entries(14), '.gitignore', '.ci/run', 'README.zh-CN.md'])).toEqual([])
  expect(findCrowdedRoot(entries(15))).toHaveLength(1)
})

// Put together here, because this file is searched for forbidden words too.
const forbidden = [
  ['', 'root', 'notes.txt'].join('/'),
  `see ${['', 'home', 'ann', 'src'].join('/')}`,
  ['C:', 'Users', 'ann'].join('\\'),
  ['https:', '', 'registry.example.org', 'pg'].join('/'),
  ['http:', '', 'artifactory.example.org'].join('/'),
  ['192', '168', '1', '20'].join('.'),
  `// ${'TO'}${'DO'} later`,
]

test.each(forbidden)('refuses %j', (text) => {
  expect(findForbiddenWords([{ path: 'docs/start.md', text }])).toHaveLength(1)
})

test.each(['./root/x', 'src/home/x.ts', 'https://example.org/home/page', '127.0.0.1', 'registry.handlers.map(run)'])(
  'lets %j pass',
  (text) => {
    expect(findForbiddenWords([{ path: 'docs/start.md', text }])).toEqual([])
  },
)

test('refuses the folders of this machine', () => {
  const problemsOf = (text: string) => findForbiddenWords([{ path: 'a.md', text }], ['/srv/checkout/'])
  expect(problemsOf('open /srv/checkout/x')).toHaveLength(1)
  expect(problemsOf('open ./srv/checkout/x')).toEqual([])
})

test('the lock file names no host and hashes every package', () => {
  const problemsOf = (packages: LockFile['packages']) => findLockFileProblems({ packages }).problems
  const host = ['https:', '', 'packages.example.org', 'pg.tgz'].join('/')
  expect(
    problemsOf({ '': {}, 'tools/node': {}, 'node_modules/dev-node': { resolved: 'tools/node', link: true } }),
  ).toEqual([])
  expect(problemsOf({ 'node_modules/pg': { resolved: host, integrity: 'sha512-x' } })).toHaveLength(1)
  expect(problemsOf({ 'node_modules/pg': {} })).toHaveLength(1)
})

test('every lock file of the repository is looked at', () => {
  const paths = [
    'package-lock.json',
    'bench/peers/package-lock.json',
    'bench/peers/package.json',
    'my-package-lock.json',
  ]
  expect(findLockFiles(paths)).toEqual(['package-lock.json', 'bench/peers/package-lock.json'])
})

test('the lock file has an entry for every platform; one without a hash is a warning', () => {
  const parent = { integrity: 'sha512-x', optionalDependencies: { 'tool-linux': '1.0.0' } }
  const complete = { 'node_modules/tool': parent, 'node_modules/tool-linux': { optional: true } }
  expect(findLockFileProblems({ packages: { 'node_modules/tool': parent } }).problems).toHaveLength(1)
  expect(findLockFileProblems({ packages: complete }).problems).toEqual([])
  expect(findLockFileProblems({ packages: complete }).warnings).toHaveLength(1)
})
