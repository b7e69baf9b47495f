/** Text of anything. Never throws: not everything can be made text, and what is said of a message must not fail it. */
export function anyText(value: unknown): string {
  try {
    return String(value)
  } catch {
    return typeof value
  }
}

/** JSON of some values. Never throws: what JSON does not know is there as its text. */
export function anyJson(values: readonly unknown[]): string {
  try {
    return JSON.stringify(values, asData)
  } catch {
    return JSON.stringify(values.map(anyText))
  }
}

/** For JSON.stringify, which throws when it meets one. */
export function asData(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}
