/** Wraps the user's listener and ignores its errors: a failing report must not make the reported work fail. */
export function quiet<Report>(listener: ((report: Report) => void) | undefined): (report: Report) => void {
  return (report) => {
    try {
      listener?.(report)
    } catch {}
  }
}
