/** Converts anything to text. Never throws: not everything can be converted, and describing a message must not make it fail. */
export function anyText(value: unknown): string {
  try {
    return String(value)
  } catch {
    return typeof value
  }
}

/** Converts values to JSON. Never throws: values that JSON does not support are converted to text. */
export function anyJson(values: readonly unknown[]): string {
  try {
    return JSON.stringify(values, asData)
  } catch {
    return JSON.stringify(values.map(anyText))
  }
}

/** A replacer for JSON.stringify, which throws on a bigint. */
export function asData(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}
