export interface CheckResult {
  problems: string[]
  warnings?: string[]
  /** Why the check could not say anything; a check never skips in silence. */
  skipped?: string
}

export interface Check {
  name: string
  run(): Promise<CheckResult>
}
