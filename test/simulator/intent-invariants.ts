import type { PackedMessage } from '../../src/contracts/index.ts'
import { intentHandler } from '../../src/encoding/intent-name.ts'
import type { Row } from './database/sim-database.ts'
import { effectKinds, type Wish } from './intending.ts'
import type { OutsideCall } from './outside.ts'
import type { World } from './world.ts'

/** What is known at the end about a call that a handler has intended. */
interface Known {
  readonly of: string
  /** Of the row, if it is left. */
  readonly row: Row | undefined
}

/** What was intended was called as its effect promises, or is there to be seen; and nothing else was called. */
export function aboutIntents(world: World, effects: ReadonlyMap<string, number>): string[] {
  if (!world.scenario.intents) return []
  // After a restore, what was pending in the backup is called again, and what was lost is intended anew.
  if (world.scenario.restore !== undefined) return aboutKeys(world)
  const found: string[] = []
  for (const effect of effectKinds.filter((kind) => kind !== 'named')) {
    const calls = Map.groupBy(callsOf(world, effect), ({ of }) => of)
    const known = new Map(knownOf(world, effect).map((each) => [each.of, each]))
    for (const { id, type } of world.scenario.messages) {
      if (type !== 'single') continue
      const times = calls.get(id)?.length ?? 0
      const what = `${effect} of ${id}`
      if (!effects.has(`one|${id}`)) {
        if (times > 0) found.push(`UNCOMMITTED: ${what} was called, although nothing of ${id} has committed`)
        continue
      }
      found.push(...aboutCall(what, effect, times, known.get(id)))
      const told = effects.get(`told|${id}`) ?? 0
      const isDone = known.has(id) && known.get(id)?.row === undefined
      if (effect === 'keyed' && told !== (isDone ? 1 : 0)) found.push(`TOLD: of ${what} was told ${told} times`)
    }
  }
  return [...found, ...aboutKeys(world)]
}

function aboutCall(what: string, effect: string, times: number, known: Known | undefined): string[] {
  if (times > 1) return [`DOUBLED: ${what} happened ${times} times`]
  if (known === undefined) return [`DROPPED: ${what} was intended, and nothing is known of it`]
  const { row } = known
  if (row === undefined) return times === 1 ? [] : [`UNTRUE: ${what} counts as done, and did not happen`]
  if (row.reason === 'INTENT_UNKNOWN' && effect === 'bare') return []
  return [`GIVEN UP: ${what} is ${row.state}, ${row.reason}, after ${row.attempts} attempts`]
}

/** A key is called once at a provider that honours keys, whatever is restored, and a key of the user's is one call. */
function aboutKeys(world: World): string[] {
  const found: string[] = []
  const times = new Map<string, number>()
  for (const { effect, idempotencyKey } of world.outside.done) {
    const name = `${effect} ${idempotencyKey}`
    times.set(name, (times.get(name) ?? 0) + 1)
  }
  for (const [name, count] of times)
    if (count > (/^(keyed|named) /.test(name) || world.scenario.restore === undefined ? 1 : 2))
      found.push(`DOUBLED: ${name} happened ${count} times`)
  if (world.scenario.restore !== undefined) return found
  for (const [key, calls] of Map.groupBy(callsOf(world, 'named'), (call) => call.key))
    if (calls.length > 1) found.push(`DOUBLED: ${key} was intended ${calls.length} times`)
  return found
}

function callsOf({ outside }: World, effect: string): OutsideCall[] {
  return outside.done.filter((call) => call.effect === effect)
}

function knownOf({ database }: World, effect: string): Known[] {
  const handler = intentHandler(effect)
  const rows = database.scan(undefined, 'parked').filter(({ row }) => row.handler === handler)
  const records = database.scan(undefined, 'inbox').filter(({ key }) => key.startsWith(`${handler}|`))
  return [
    ...rows.map(({ row }) => ({ of: wishIn((row.message as PackedMessage).body).of, row })),
    ...records
      .filter(({ row }) => row.state === 'processed' && typeof row.result === 'string')
      .map(({ row }) => ({ of: (JSON.parse(row.result as string) as Wish).of, row: undefined })),
  ]
}

function wishIn(body: Uint8Array): Wish {
  return JSON.parse(Buffer.from(body).toString()) as Wish
}
