import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fromRoot, repoRoot } from './repo.ts'
import { countTests, summaryLine } from './test-summary.ts'

/** What needs no server and is quick: for a newcomer, and while working on something. */
const quick = [
  'src/',
  'test/app/',
  'test/types/',
  'test/bad-input/',
  'test/conformance/memory',
  'test/conformance/sqlite',
  '--exclude=test/bad-input/postgres.test.ts',
]

const given = process.argv.slice(2)
const args = given.flatMap((each) => (each === '--quick' ? quick : each))

const reportFolder = mkdtempSync(join(tmpdir(), 'justonce-test-'))
const reportFile = join(reportFolder, 'report.json')

const vitest = spawn(
  process.execPath,
  [
    fromRoot('node_modules/vitest/vitest.mjs'),
    'run',
    '--config=test/vitest.config.ts',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${reportFile}`,
    ...args,
  ],
  { cwd: repoRoot, stdio: 'inherit' },
)

// A terminal sends Ctrl-C to the whole process group; a second copy would make vitest skip its teardown.
process.on('SIGINT', () => {
  if (!process.stdin.isTTY) vitest.kill('SIGINT')
})
process.on('SIGTERM', () => vitest.kill('SIGTERM'))

vitest.on('close', (code, signal) => {
  const exitCode = code ?? (signal === 'SIGINT' ? 130 : 1)
  const counts = countTests(readReport(), exitCode)
  rmSync(reportFolder, { recursive: true, force: true })
  console.log(summaryLine(counts))
  process.exitCode = exitCode
})

function readReport(): unknown {
  try {
    return JSON.parse(readFileSync(reportFile, 'utf8'))
  } catch {
    return undefined
  }
}
