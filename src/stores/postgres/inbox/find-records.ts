import type { InboxKey, InboxRecord, RecordKey } from '../../../contracts/index.ts'
import type { Answer, Runner } from '../connection.ts'
import { type Cell, dateIn, textArray } from '../values-as-text.ts'
import { bornRange, bornText } from './born.ts'
import type { InboxStatements, TwoWays } from './inbox-statements.ts'
import { keyArrays, recordIn } from './record-rows.ts'

type CanRun = Pick<Runner, 'run'>

/** Returns one answer per key: its record, looked up among those born at the same time. */
export async function lookAt(
  runner: CanRun,
  look: TwoWays,
  keys: readonly InboxKey[],
): Promise<(InboxRecord | undefined)[]> {
  const found: (InboxRecord | undefined)[] = keys.map(() => undefined)
  for (const { places, isBorn } of groups(keys)) {
    const wanted = places.map((place) => keys[place] as InboxKey)
    const { rows } = await runAmong(runner, look, wanted, isBorn)
    for (const row of rows) found[places[Number(row[0]) - 1] as number] = recordIn(row, 1)
  }
  return found
}

/** Runs the statement for keys that either all have a time or all have none. */
export function runAmong(
  runner: CanRun,
  ways: TwoWays,
  keys: readonly InboxKey[],
  isBorn: boolean,
  more: readonly Cell[] = [],
): Promise<Answer> {
  const values = [...keyArrays(keys), ...more]
  if (!isBorn) return runner.run(ways.timeless, values)
  const borns = keys.map(({ born }) => born)
  return runner.run(ways.born, [...values, textArray(borns.map(bornText)), ...bornRange(borns)])
}

/** Few enough that the planner, faced with hundreds of partitions, does not consider the statement huge and JIT-compile it. */
const keysAtOnce = 20

/** Finds when those keys were born that have a record with a time, searching every partition of the inbox. */
export async function locate<Key extends RecordKey>(
  runner: CanRun,
  { locate: statement }: InboxStatements,
  keys: readonly Key[],
): Promise<(Key & { readonly born: Date })[]> {
  const located: (Key & { readonly born: Date })[] = []
  for (let from = 0; from < keys.length; from += keysAtOnce) {
    const some = keys.slice(from, from + keysAtOnce)
    const { rows } = await runner.run(statement, keyArrays(some))
    for (const [place, born] of rows) located.push({ ...(some[Number(place) - 1] as Key), born: dateIn(born) })
  }
  return located
}

function groups(keys: readonly InboxKey[]): { readonly places: readonly number[]; readonly isBorn: boolean }[] {
  const places = keys.map((_, place) => place)
  return [false, true]
    .map((isBorn) => ({ places: places.filter((place) => (keys[place]?.born !== undefined) === isBorn), isBorn }))
    .filter((group) => group.places.length > 0)
}
