/** Two commits, one after the other. The second is refused, or never comes, and the first stands. */
export function naive(): string {
  let [pens, credit] = [5, 4]
  for (const count of [3, 2]) {
    pens -= count // committed in the database of the warehouse
    if (credit >= count) credit -= count // committed in the one of the bank, if it is
  }
  return `${pens} pens, ${credit} credit: 2 pens are gone, and nobody has paid for them`
}
