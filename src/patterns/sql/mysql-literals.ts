/** What mysql2 writes with a backslash before it. */
const escaped = /[\p{Cc}"'\\]/u

/**
 * mysql2 writes values into the statement by itself, with backslashes that are letters where `NO_BACKSLASH_ESCAPES` is set: a
 * value could then end its quotes and become a part of the statement. A text with such letters is written as hexadecimal digits.
 */
export function withSafeTexts(
  text: string,
  values: readonly unknown[],
): { readonly sql: string; readonly values: readonly unknown[] } {
  const left: unknown[] = []
  // Names have no question marks, so each of them stands for a value.
  const pieces = text.split('?').map((piece, index) => {
    if (index === values.length) return piece
    const value = values[index]
    if (typeof value === 'string' && escaped.test(value))
      return `${piece}_utf8mb4 X'${Buffer.from(value, 'utf8').toString('hex')}'`
    left.push(value)
    return `${piece}?`
  })
  return { sql: pieces.join(''), values: left }
}

/** How many rows an UPDATE has found: mysql2 can be set up to count only those that became different. */
export function foundRows({ affectedRows, info }: { readonly affectedRows: number; readonly info?: string }): number {
  const matched = /^Rows matched: (\d+)/.exec(info ?? '')?.[1]
  return matched === undefined ? affectedRows : Number(matched)
}
