import type { PackedMessage } from '../../src/contracts/index.ts'
import type { Row } from './database/sim-database.ts'
import type { Done } from './handlers.ts'
import type { World } from './world.ts'

/** What was done for a message that the database has never heard of, in the history that has survived. */
export function aboutUnsent(run: string, effects: number, record: unknown, parked: Row | undefined): string[] {
  const found: string[] = []
  if (effects > 0) found.push(`GONE: ${run} took effect, although it is not in its queue and never was`)
  if (parked !== undefined) found.push(`GONE: ${run} is parked, although it is not in its queue and never was`)
  if (record !== undefined) found.push(`GONE: ${run} has a record, although it is not in its queue and never was`)
  return found
}

/**
 * Where the database is the queue, what a handler publishes comes back through it: for every effect that has survived the
 * second handler took effect once, and for none that has not.
 */
export function aboutChain(
  { database, scenario }: World,
  effects: ReadonlyMap<string, number>,
  sent: ReadonlyMap<string, number>,
  mayCondemn: boolean,
): string[] {
  if (scenario.shape !== 'database') return []
  const found: string[] = []
  const condemned = new Set(
    database.scan(undefined, 'parked').flatMap(({ row }) => (isCondemned(row) ? runOfDone(row) : [])),
  )
  for (const run of [...effects.keys()].filter((each) => !each.startsWith(prefix))) {
    const times = effects.get(`${prefix}${run}`) ?? 0
    if (times > 1) found.push(`DOUBLED: what ${run} published took effect ${times} times`)
    if (times === 0 && !(mayCondemn && condemned.has(run)))
      found.push(`LOST: what ${run} published has no effect, although its own effect stands`)
    // What was sent to a broker before a restore cannot be taken back.
    const left = sent.get(run) ?? 0
    if (scenario.restore === undefined && left !== times)
      found.push(`MESSAGES: what ${run} published took effect ${times} times and sent ${left} different messages`)
  }
  for (const chained of effects.keys())
    if (chained.startsWith(prefix) && !effects.has(chained.slice(prefix.length)))
      found.push(`GONE: ${chained} took effect, although what published it did not`)
  return found
}

const prefix = 'chain|'

function isCondemned({ handler, reason, state }: Row): boolean {
  return handler === 'chain' && state === 'dead' && reason === 'PROCESS_DIED'
}

function runOfDone(row: Row): string {
  const { body } = row.message as PackedMessage
  const { of, by } = JSON.parse(Buffer.from(body).toString()) as Done
  return `${by}|${of}`
}
