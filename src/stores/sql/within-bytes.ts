/** As many as begin within so many bytes: the first whatever its size. */
export function withinBytes<Row extends { readonly bytes: number }>(rows: readonly Row[], maxBytes: number): Row[] {
  let before = 0
  return rows.filter(({ bytes }) => {
    const isWithin = before < maxBytes
    before += bytes
    return isWithin
  })
}
