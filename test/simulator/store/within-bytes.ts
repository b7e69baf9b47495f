import type { PackedMessage } from '../../../src/contracts/index.ts'

/** As many as begin within so many bytes: the first whatever its size. */
export function withinBytes<Row>(rows: readonly Row[], maxBytes: number): Row[] {
  let before = 0
  return rows.filter((row) => {
    const isWithin = before < maxBytes
    const { envelope, body } = (row as { readonly message: PackedMessage }).message
    before += envelope.length + body.length
    return isWithin
  })
}
