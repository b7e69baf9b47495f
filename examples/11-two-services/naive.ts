/** Commits, then sends. The process dies between the two for one order in ten; before the acknowledgement for another one. */
export function naive(): string {
  let [parcels, invoices] = [0, 0]
  const pack = (diesAt?: 'before-sending' | 'before-acknowledging'): void => {
    parcels++
    if (diesAt === 'before-sending') return // committed: the redelivery is taken for a duplicate, or packs again
    invoices++
    if (diesAt === 'before-acknowledging') pack() // delivered again
  }
  for (let order = 0; order < 20; order++)
    pack(order % 10 === 3 ? 'before-sending' : order % 10 === 7 ? 'before-acknowledging' : undefined)
  return `${parcels} parcels, ${invoices} invoices`
}
