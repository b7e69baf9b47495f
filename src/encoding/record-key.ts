/** The key of the record that a row parked without a claim has, or will have. */
export function recordKeyOf(rowKey: string): string {
  return rowKey.replace(/#unclaimed[0-9a-f]*$/, '')
}
