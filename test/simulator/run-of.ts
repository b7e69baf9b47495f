/**
 * The run that a parked row is of, by the row's key. Where positions tell messages apart, it ends with a mark of them; what was
 * parked without a claim has its content in it.
 */
export function runOf(key: string): string {
  return key.replace(/(@[0-9a-f]{32}|#unclaimed[0-9a-f]*)$/, '')
}
