/** The key that a row which was parked without a claim has, or will have, its record under. */
export function recordKeyOf(rowKey: string): string {
  return rowKey.replace(/#unclaimed[0-9a-f]*$/, '')
}
