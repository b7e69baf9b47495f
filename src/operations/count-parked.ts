import type { ParkedFilter, Parking } from '../contracts/index.ts'

/** How many parked messages match the filter. Default: all of them. */
export async function countParked(
  { parking }: { readonly parking: Pick<Parking<never>, 'tally'> },
  filter: ParkedFilter = {},
): Promise<number> {
  return (await parking.tally(filter, []))[0]?.count ?? 0
}
