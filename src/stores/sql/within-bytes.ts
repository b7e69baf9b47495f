/** The rows that begin within `maxBytes`. The first row is always included, whatever its size. */
export function withinBytes<Row extends { readonly bytes: number }>(rows: readonly Row[], maxBytes: number): Row[] {
  let before = 0
  return rows.filter(({ bytes }) => {
    const isWithin = before < maxBytes
    before += bytes
    return isWithin
  })
}
