export interface TestCounts {
  passed: number
  failed: number
  skipped: number
}

interface JsonReport {
  testResults: { status: string; assertionResults: { status: string }[] }[]
}

/** Counts the tests of a vitest JSON report; a run that failed outside every test counts as one failure. */
export function countTests(report: unknown, exitCode: number): TestCounts {
  const counts: TestCounts = { passed: 0, failed: 0, skipped: 0 }
  for (const file of isReport(report) ? report.testResults : []) {
    const statuses = file.assertionResults.map((test) => test.status)
    const failed = statuses.filter((status) => status === 'failed').length
    // A file that cannot be loaded, or whose hook throws, has failed without any failed test.
    counts.failed += file.status === 'failed' && failed === 0 ? 1 : failed
    counts.passed += statuses.filter((status) => status === 'passed').length
    counts.skipped += statuses.filter((status) => status !== 'passed' && status !== 'failed').length
  }
  if (exitCode !== 0 && counts.failed === 0) counts.failed = 1
  return counts
}

export function summaryLine({ passed, failed, skipped }: TestCounts): string {
  const line = `${passed} passed, ${failed} failed`
  return skipped > 0 ? `${line}, ${skipped} skipped` : line
}

function isReport(value: unknown): value is JsonReport {
  return typeof value === 'object' && value !== null && Array.isArray((value as Partial<JsonReport>).testResults)
}
