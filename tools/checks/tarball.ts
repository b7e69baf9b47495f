import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from '../build.ts'
import { obtainOtherNodes } from '../other-nodes.ts'
import { fromRoot, type RepoFile } from '../repo.ts'
import { nonEmptyLines, run } from '../run.ts'
import type { Check, CheckResult } from './check.ts'

const builtFiles = ['dist/index.js', 'dist/dashboard/page.generated.js']
const alwaysPacked = ['package.json', 'README.md', 'README.zh-CN.md', 'LICENSE', 'CHANGELOG.md', 'CONTRIBUTING.md']

/** A tarball holds what was built and the pages: no sources, no tests. */
export function findTarballProblems(paths: readonly string[]): string[] {
  const strangers = paths.filter((path) => !alwaysPacked.includes(path) && !/^(?:dist|docs|examples)\//.test(path))
  const tests = paths.filter((path) => path.includes('.test.') || path.startsWith('dist/dashboard/page/'))
  return [
    ...[...strangers, ...tests].map((path) => `the tarball contains ${path}`),
    ...alwaysPacked.filter((path) => !paths.includes(path)).map((path) => `the tarball lacks ${path}`),
    ...builtFiles.filter((path) => !paths.includes(path)).map((path) => `the tarball lacks ${path}`),
  ]
}

/** Whatever a README of the package leads to is in the package, because a reader may have nothing else. */
export function findUnpackedLinks({ path, text }: RepoFile, paths: readonly string[]): string[] {
  const links = [...text.matchAll(/\]\((?!\w+:|#)([^)#\s]+)/g)].map(([, file = '']) => file)
  return [...new Set(links)]
    .filter((file) => !paths.includes(file))
    .map((file) => `${path} leads to ${file}, which the tarball lacks`)
}

/** Packs, installs into an empty project, then uses the package as a stranger would. */
export const tarballCheck: Check = {
  name: 'tarball',
  async run() {
    const built = await build()
    if (!built.ok) return { problems: ['the build failed', ...nonEmptyLines(built.output)] }
    const project = mkdtempSync(join(tmpdir(), 'justonce-tarball-'))
    try {
      const problems = await packAndInstall(project)
      if (problems.length > 0) return { problems }
      const types = await compileAsUser(project)
      const smoke = await runOnEveryNode(project)
      return { ...smoke, problems: [...types, ...smoke.problems] }
    } finally {
      rmSync(project, { recursive: true, force: true })
    }
  },
}

async function packAndInstall(project: string): Promise<string[]> {
  const packed = await run('npm', ['pack', '--json', '--pack-destination', project])
  if (!packed.ok) return [`npm pack failed: ${packed.output}`]
  const [tarball] = JSON.parse(packed.stdout) as [{ filename: string; files: { path: string }[] }]
  const paths = tarball.files.map((file) => file.path)
  writeFileSync(join(project, 'package.json'), JSON.stringify({ private: true }))
  cpSync(fromRoot('tools/tarball-smoke'), project, { recursive: true })
  const installed = await run('npm', ['install', '--no-audit', '--no-fund', `./${tarball.filename}`], { cwd: project })
  return [
    ...findTarballProblems(paths),
    ...['README.md', 'README.zh-CN.md'].flatMap((page) =>
      findUnpackedLinks({ path: page, text: readFileSync(fromRoot(page), 'utf8') }, paths),
    ),
    ...(installed.ok ? [] : [`npm install failed: ${installed.output}`]),
  ]
}

async function compileAsUser(project: string): Promise<string[]> {
  const problems: string[] = []
  for (const [module, resolution] of [
    ['nodenext', 'nodenext'],
    ['esnext', 'bundler'],
  ] as const) {
    const types = ['--types', 'node', '--typeRoots', fromRoot('node_modules/@types')]
    const args = ['--noEmit', '--strict', '--target', 'es2023', '--module', module, '--moduleResolution', resolution]
    const { ok, output } = await run(fromRoot('node_modules/.bin/tsc'), [...args, ...types, 'smoke.mts'], {
      cwd: project,
    })
    if (!ok) problems.push(`types, moduleResolution ${resolution}: ${output.trim()}`)
  }
  return problems
}

async function runOnEveryNode(project: string): Promise<CheckResult> {
  const problems: string[] = []
  const warnings: string[] = []
  const current = { version: process.versions.node, executable: process.execPath, output: '' }
  for (const { version, executable, output } of [...(await obtainOtherNodes()), current]) {
    if (executable === undefined) {
      const list = process.env.JUSTONCE_REQUIRE_ALL ? problems : warnings
      list.push(`not tried on Node ${version}, which could not be installed: ${nonEmptyLines(output).at(-1) ?? ''}`)
      continue
    }
    for (const script of ['smoke.mjs', 'smoke.cjs']) {
      const finished = await run(executable, [script], { cwd: project, timeoutMs: 60_000 })
      if (!finished.ok) problems.push(`${script} on Node ${version}: ${finished.output.trim()}`)
    }
  }
  return { problems, warnings }
}
