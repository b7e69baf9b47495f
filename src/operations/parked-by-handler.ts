import type { Store } from '../contracts/index.ts'

/** How many messages a handler has parked, for one reason. */
export interface ParkedOfHandler {
  readonly handler: string
  readonly state: 'waiting' | 'dead'
  readonly count: number
}

/**
 * One question for each state, and by reason as well: so SQLite counts dead letters on their own index and reads only the rows that
 * wait. Counted by handler alone it reads every row, beside a million dead letters for seconds.
 */
export async function parkedByHandler<Tx>({
  parking,
}: Pick<Store<Tx>, 'parking'>): Promise<readonly ParkedOfHandler[]> {
  const counted: ParkedOfHandler[] = []
  for (const state of ['waiting', 'dead'] as const)
    for (const { handler, count } of await parking.tally({ state }, ['handler', 'reason']))
      counted.push({ handler, state, count })
  return counted
}
