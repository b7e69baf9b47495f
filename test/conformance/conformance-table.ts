export interface ConformanceResult {
  readonly driver: string
  /** `topic: sentence` */
  readonly case: string
  /** `passed`, `failed` or `skipped: why` */
  readonly outcome: string
}

/** Topics by drivers, `kept/all` in each field, and below it what was skipped and why. */
export function conformanceTable(results: readonly ConformanceResult[]): string {
  const drivers = [...new Set(results.map(({ driver }) => driver))]
  const topics = [...new Set(results.map(topicOf))]
  const rows = topics.map((topic) => [topic, ...drivers.map((driver) => field(results, topic, driver))])
  return [...aligned([['', ...drivers], ...rows]), ...skips(results)].join('\n')
}

function topicOf(result: ConformanceResult): string {
  return result.case.split(':')[0] as string
}

function field(results: readonly ConformanceResult[], topic: string, driver: string): string {
  const mine = results.filter((result) => topicOf(result) === topic && result.driver === driver)
  if (mine.length === 0) return '–'
  const failed = mine.filter(({ outcome }) => outcome === 'failed').length
  const passed = mine.filter(({ outcome }) => outcome === 'passed').length
  return failed > 0 ? `${passed}/${mine.length} FAILED` : `${passed}/${mine.length}`
}

function skips(results: readonly ConformanceResult[]): string[] {
  const counts = new Map<string, number>()
  for (const { driver, outcome } of results) {
    if (!outcome.startsWith('skipped: ')) continue
    const line = `${driver}: ${outcome.slice('skipped: '.length)}`
    counts.set(line, (counts.get(line) ?? 0) + 1)
  }
  return counts.size === 0 ? [] : ['', 'skipped', ...[...counts].map(([line, count]) => `  ${count} × ${line}`)]
}

function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
  return rows.map((row) =>
    row
      .map((text, column) => text.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}
