import type { ParkedFilter, Parking } from '../contracts/index.ts'

/** How many parked messages match the filter. Default: all of them. */
export async function countParked(
  { parking }: { readonly parking: Pick<Parking<never>, 'tally'> },
  filter: ParkedFilter = {},
): Promise<number> {
  return (await parking.tally(filter, []))[0]?.count ?? 0
}

/** How many dead letters each handler has. By reason as well, because that is in an index: see `parkedByHandler`. */
export async function countLetters({
  parking,
}: {
  readonly parking: Pick<Parking<never>, 'tally'>
}): Promise<Readonly<Record<string, number>>> {
  const counts = new Map<string, number>()
  for (const { handler, count } of await parking.tally({ state: 'dead' }, ['handler', 'reason']))
    counts.set(handler, (counts.get(handler) ?? 0) + count)
  return Object.fromEntries(counts)
}
