import type { FactChange, Facts } from '../contracts/index.ts'
import { JustonceError } from '../errors/index.ts'

/**
 * Messages that were being handled when a process died, and that may have killed it. They are counted before they run
 * again, so that a message that kills every process is detected.
 */
export interface Suspects<Tx> {
  /** How many attempts of each have begun and not ended; 0 for one that is not suspected. One answer per id. */
  look(ids: readonly string[]): Promise<readonly number[]>
  /** Counts one more attempt of each. Ids are distinct and made of at most 100 letters and digits. */
  begin(ids: readonly string[]): Promise<void>
  /** They have ended other than by a death, and are no longer suspected. Unknown ids are no error. */
  clear(tx: Tx, ids: readonly string[]): Promise<void>
  /** Takes one attempt back, if a process gives the messages up without having crashed. */
  forgive(ids: readonly string[]): Promise<void>
  /** Removes suspects whose last attempt began too long ago: their messages will not arrive again. */
  sweep(): Promise<void>
}

const kind = 'suspect'
const keptMs = 7 * 86_400_000
const mostTurns = 1_000

export function suspectsOf<Tx>({ facts }: { readonly facts: Facts<Tx> }, lastMs = keptMs): Suspects<Tx> {
  const nameOf = (id: string): string => `${kind} ${id}`

  /** Ids that another process has changed meanwhile are counted again. */
  async function count(ids: readonly string[], by: 1 | -1): Promise<void> {
    let left = ids
    for (let turn = 1; left.length > 0; turn++) {
      if (turn > mostTurns)
        throw new JustonceError('STORE_BUSY', { message: 'Others keep changing the same suspects.' })
      const known = await facts.read(left.map(nameOf))
      const changes = left.flatMap((id, place): { readonly id: string; readonly change: FactChange }[] => {
        const fact = known[place]
        const counted = Number(fact?.value ?? 0) + by
        if (counted < 0) return []
        const change = {
          name: nameOf(id),
          from: fact?.revision,
          value: String(counted),
          forMs: counted > 0 ? lastMs : 0,
        }
        return [{ id, change }]
      })
      const answers =
        changes.length === 0
          ? []
          : await facts.change(
              undefined,
              changes.map(({ change }) => change),
            )
      left = changes.flatMap(({ id }, place) => (answers[place] === undefined ? id : []))
    }
  }

  return {
    look: async (ids) => (await facts.read(ids.map(nameOf))).map((fact) => Number(fact?.value ?? 0)),
    begin: (ids) => count(ids, 1),
    clear: (tx, ids) => facts.remove(tx, ids.map(nameOf)),
    forgive: (ids) => count(ids, -1),
    sweep: () => facts.remove(undefined, { expiredOf: kind }),
  }
}
