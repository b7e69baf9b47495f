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
  const found: string[] = [...(world.watch?.intents.found ?? [])]
  for (const effect of effectKinds.filter((kind) => kind !== 'named')) {
    const calls = Map.groupBy(callsOf(world, effect), ({ of }) => of)
    const known = Map.groupBy(knownOf(world, effect), ({ of }) => of)
    for (const { id, type } of world.scenario.messages) {
      if (type !== 'single') continue
      const times = calls.get(id)?.length ?? 0
      const what = `${effect} of ${id}`
      // More than one only where its record was removed, and it may run again.
      const runs = effects.get(`one|${id}`) ?? 0
      if (runs === 0) {
        if (times > 0) found.push(`UNCOMMITTED: ${what} was called, although nothing of ${id} has committed`)
        continue
      }
      const rows = (known.get(id) ?? []).flatMap(({ row }) => (row === undefined ? [] : [row]))
      const done = world.watch?.intents.done(effect, id) ?? (known.get(id) ?? []).length - rows.length
      found.push(...aboutCalls(what, effect, { runs, times, done, rows }))
      const told = effects.get(`told|${id}`) ?? 0
      if (effect === 'keyed' && told !== done) found.push(`TOLD: of ${what} was told ${told} times`)
    }
  }
  return [...found, ...aboutKeys(world)]
}

interface Calls {
  readonly runs: number
  readonly times: number
  /** How many have ended. */
  readonly done: number
  /** What is left of the others. */
  readonly rows: readonly Row[]
}

function aboutCalls(what: string, effect: string, { runs, times, done, rows }: Calls): string[] {
  if (times > runs) return [`DOUBLED: ${what} happened ${times} times`]
  if (done + rows.length < runs) return [`DROPPED: ${what} was intended, and nothing is known of it`]
  if (done > times) return [`UNTRUE: ${what} counts as done, and did not happen`]
  return rows
    .filter(({ reason }) => reason !== 'INTENT_UNKNOWN' || effect !== 'bare')
    .map(({ state, reason, attempts }) => `GIVEN UP: ${what} is ${state}, ${reason}, after ${attempts} attempts`)
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
    if (calls.length > 1 && !world.watch?.forgotten.has(`${intentHandler('named')}|${key}`))
      found.push(`DOUBLED: ${key} was intended ${calls.length} times`)
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
