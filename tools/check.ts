import { architecturePageCheck } from './checks/architecture-page.ts'
import type { Check, CheckResult } from './checks/check.ts'
import { dashboardPageCheck } from './checks/dashboard-page.ts'
import { errorsPageCheck } from './checks/errors-page.ts'
import { examplesCheck } from './checks/examples.ts'
import { exportsCheck } from './checks/exports.ts'
import { featuresCheck } from './checks/features.ts'
import { fileSizeCheck } from './checks/file-size.ts'
import { forbiddenWordsCheck } from './checks/forbidden-words.ts'
import { formatCheck } from './checks/format.ts'
import { importArrowsCheck } from './checks/import-arrows.ts'
import { linksCheck } from './checks/links.ts'
import { lockFileCheck } from './checks/lock-file.ts'
import { optionsPageCheck } from './checks/options-page.ts'
import { packageImportsCheck } from './checks/package-imports.ts'
import { referenceCheck } from './checks/reference.ts'
import { rootEntriesCheck } from './checks/root-entries.ts'
import { siteCheck } from './checks/site.ts'
import { snippetsCheck } from './checks/snippets.ts'
import { storeContractCheck } from './checks/store-contract.ts'
import { tarballCheck } from './checks/tarball.ts'
import { translationsCheck } from './checks/translations.ts'
import { typesCheck } from './checks/types.ts'

const checks: readonly Check[] = [
  formatCheck,
  typesCheck,
  importArrowsCheck,
  packageImportsCheck,
  fileSizeCheck,
  storeContractCheck,
  rootEntriesCheck,
  forbiddenWordsCheck,
  lockFileCheck,
  dashboardPageCheck,
  errorsPageCheck,
  optionsPageCheck,
  referenceCheck,
  architecturePageCheck,
  featuresCheck,
  linksCheck,
  siteCheck,
  translationsCheck,
  snippetsCheck,
  examplesCheck,
  exportsCheck,
  tarballCheck,
]

const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => !checks.some((check) => check.name === name))
if (unknown.length > 0) {
  console.error(`No check is called ${unknown.join(', ')}. There are: ${checks.map((check) => check.name).join(', ')}.`)
  process.exit(2)
}

const selected = checks.filter((check) => wanted.length === 0 || wanted.includes(check.name))
const failed: string[] = []
for (const check of selected) {
  const startedAt = performance.now()
  const result = await runCheck(check)
  if (result.problems.length > 0) failed.push(check.name)
  print(check.name, result, (performance.now() - startedAt) / 1000)
}

console.log(
  failed.length === 0
    ? `\n${selected.length} checks, none failed`
    : `\n${selected.length} checks, ${failed.length} failed: ${failed.join(', ')}`,
)
process.exitCode = failed.length === 0 ? 0 : 1

async function runCheck(check: Check): Promise<CheckResult> {
  try {
    return await check.run()
  } catch (error) {
    return { problems: [error instanceof Error ? (error.stack ?? error.message) : String(error)] }
  }
}

function print(name: string, { problems, warnings = [], skipped }: CheckResult, seconds: number): void {
  const status = problems.length > 0 ? 'FAIL' : skipped === undefined ? 'ok' : 'skip'
  const note = skipped === undefined ? `${seconds.toFixed(1)} s` : skipped
  console.log(`${status.padEnd(4)}  ${name.padEnd(16)}  ${note}`)
  for (const problem of problems) console.log(`      ${problem.replaceAll('\n', '\n      ')}`)
  for (const warning of warnings) console.log(`      warning: ${warning}`)
}
