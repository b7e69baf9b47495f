/** `SET lock NX PX 30`, and a holder that stands still for longer than that. The numbers are milliseconds. */
export function naive(): string {
  let report = ''
  let lock = { holder: 'A', until: 30 }
  const wakesUp = 40
  if (lock.until <= 31) lock = { holder: 'B', until: 61 } // at 31 it has expired: B gets it
  report = 'of the process that took over'
  // At 40 A wakes up. It has asked for the lock before, so it does not ask again.
  if (wakesUp > 30) report = 'of the process that was frozen'
  return report
}
