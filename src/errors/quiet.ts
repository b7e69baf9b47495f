/** The user's listener, without its failures: a report that fails must not become a failure of what it reports. */
export function quiet<Report>(listener: ((report: Report) => void) | undefined): (report: Report) => void {
  return (report) => {
    try {
      listener?.(report)
    } catch {}
  }
}
