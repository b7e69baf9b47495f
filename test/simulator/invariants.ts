import type { PackedMessage } from '../../src/contracts/index.ts'
import { unpackOutgoing } from '../../src/encoding/packed-message.ts'
import { starvesAfterMs } from './crowded.ts'
import type { Row } from './database/sim-database.ts'
import { attempts, endsAsDeadLetter } from './handlers.ts'
import { firstSentInside } from './inside.ts'
import { aboutChain, aboutUnsent } from './inside-invariants.ts'
import { aboutIntents } from './intent-invariants.ts'
import { tickMs } from './real-app.ts'
import type { RetentionWatch } from './retention-watch.ts'
import { runOf } from './run-of.ts'
import type { ScenarioMessage } from './scenario.ts'
import type { World } from './world.ts'

const handlersOf = {
  single: ['one'],
  double: ['first', 'second'],
  bulk: ['bulk'],
  ordered: ['line'],
  sick: ['sick'],
} as const

/** Everything that must be true when a world has come to rest. Each violation is a sentence about one message. */
export function violations(world: World, rested: boolean): string[] {
  const found: string[] = []
  if (!rested) found.push('STUCK: the world did not come to rest')
  const effects = count(world.database.scan(undefined, 'effects').map(({ row }) => `${row.handler}|${row.message}`))
  const records = new Map(world.database.scan(undefined, 'inbox').map(({ key, row }) => [key, row.state]))
  // What was parked without a claim may be a copy of what is parked: the row that owns the message is the one to go by.
  const rows = world.database.scan(undefined, 'parked').map(({ key, row }) => ({ key, row, run: runOf(key) }))
  const parked = new Map(rows.sort((a, b) => b.key.length - a.key.length).map(({ run, row }) => [run, row]))
  const sent = publishedBy(world)
  const { mendedAt, shape, restore } = world.scenario
  const facts: Facts = {
    isMended: mendedAt !== undefined,
    hasRecords: shape !== 'log by position',
    mayCondemn: mayCondemn(world),
    saysWhatIsSent: restore === undefined && shape !== 'database',
    watch: world.watch,
    notes: notedIn(world),
  }
  const isUnsent = ({ id }: ScenarioMessage) =>
    shape === 'database' && firstSentInside(world.database, id) === undefined
  const isReplaced = world.scenario.deployAt !== undefined
  for (const message of world.scenario.messages) {
    const added = `added|${message.id}`
    if ((effects.get(added) ?? 0) > 1 && !mayRunAgain(added, world.watch))
      found.push(`DOUBLED: added|${message.id} took effect more than once`)
    for (const handler of handlersOf[message.type]) {
      const run = `${handler}|${message.id}`
      if (isUnsent(message)) {
        found.push(...aboutUnsent(run, effects.get(run) ?? 0, records.get(run), parked.get(run)))
        continue
      }
      // Whether the old processes had come to it, the new ones cannot know: it has run once, or waits for a person, or never began.
      if (isReplaced && handler === 'first') {
        found.push(...aboutReplaced(run, effects.get(run) ?? 0, parked.get(run), facts))
        continue
      }
      if (world.scenario.loose && handler === 'first') {
        found.push(...aboutLoose(message, facts, run, effects.get(run) ?? 0, parked.get(run)))
        continue
      }
      const renamed = isReplaced && handler === 'one' ? `uno|${message.id}` : run
      const record = records.get(renamed) ?? records.get(run)
      const row = parked.get(renamed) ?? parked.get(run)
      found.push(...aboutRun(message, facts, run, effects.get(run) ?? 0, record, row, sent.get(run) ?? 0))
    }
  }
  found.push(
    ...(world.watch?.found ?? []),
    ...aboutBalances(world, effects),
    ...aboutChain(world, effects, sent, facts.mayCondemn),
    ...(restore === undefined
      ? [...aboutOrder(world), ...aboutSending(world), ...aboutLeaving(world), ...aboutTicks(world)]
      : []),
    ...aboutStarving(world),
    ...aboutIntents(world, effects),
  )
  for (const { key, row } of world.database.scan(undefined, 'late')) {
    if (!effects.has(`${row.handler}|${key}`)) found.push(`ESCAPED: a late write of ${key} stands without its effect`)
  }
  for (const { key } of world.database.scan(undefined, 'escaped'))
    found.push(`ESCAPED: ${key} wrote after its transaction had ended`)
  return found
}

function notedIn({ database }: World): ReadonlySet<unknown> {
  const letters = database.scan(undefined, 'parked').filter(({ row }) => row.handler === '-')
  return new Set(letters.map(({ row }) => row.messageId))
}

/** Such a row does not say what has become of other copies: that nobody knows any more, or will be known when it is due. */
function isUnclaimed({ reason }: Row): boolean {
  return reason === 'TOO_OLD_TO_KNOW' || reason === 'ID_FROM_THE_FUTURE'
}

/** Its record was removed by its age alone, or a person has redriven it although nobody could know. */
function mayRunAgain(run: string, watch: RetentionWatch | undefined): boolean {
  return watch?.forgotten.has(run) === true || watch?.redriven.has(run) === true
}

/** It has no record, and may take effect more than once, but never not at all. */
function aboutLoose(
  { behaviour, id, large }: ScenarioMessage,
  { isMended, mayCondemn, notes }: Facts,
  run: string,
  effects: number,
  parked: Row | undefined,
): string[] {
  if (effects === 0 && !parked && !(large && notes.has(id))) return [`LOST: ${run} has no effect and is not parked`]
  const isExcused = endsAsDeadLetter(behaviour) || (mayCondemn && parked?.reason === 'PROCESS_DIED')
  return parked !== undefined && (isMended || (parked.state === 'dead' && !isExcused))
    ? [`GIVEN UP: ${run} is ${parked.state}, although it would have succeeded (${behaviour})`]
    : []
}

function aboutReplaced(run: string, effects: number, parked: Row | undefined, { watch }: Facts): string[] {
  if (effects > 1 && !mayRunAgain(run, watch)) return [`DOUBLED: ${run} took effect ${effects} times`]
  if (effects === 1 && parked && !isUnclaimed(parked)) return [`DOUBLED: ${run} took effect and is parked as well`]
  return parked !== undefined && parked.state !== 'dead' ? [`STUCK: ${run} waits for a handler that nobody has`] : []
}

interface Facts {
  readonly isMended: boolean
  readonly hasRecords: boolean
  readonly mayCondemn: boolean
  /** Not where a backup was restored: what was published of lost effects has been sent all the same. */
  readonly saysWhatIsSent: boolean
  /** Where records are removed. */
  readonly watch: RetentionWatch | undefined
  /** Ids of messages of which only a note could be kept. */
  readonly notes: ReadonlySet<unknown>
}

function aboutRun(
  { behaviour, id, large }: ScenarioMessage,
  { isMended, hasRecords, mayCondemn, saysWhatIsSent, watch, notes }: Facts,
  run: string,
  effects: number,
  record: unknown,
  parked: Row | undefined,
  sent: number,
): string[] {
  const found: string[] = []
  const reason = parked?.reason
  const isTooOld = reason === 'TOO_OLD_TO_KNOW'
  const isRemoved = record === undefined && watch?.mayBeUnrecorded(run, id) === true
  const mayBeTwo = mayRunAgain(run, watch)
  if (effects > 1 && !mayBeTwo) found.push(`DOUBLED: ${run} took effect ${effects} times`)
  if (effects === 0 && !parked && !watch?.mayBeSkipped(run, id) && !(large && notes.has(id)))
    found.push(`LOST: ${run} has no effect and is not parked`)
  if (effects > 0 && parked && !isUnclaimed(parked) && !mayBeTwo)
    found.push(`DOUBLED: ${run} took effect and is parked as well`)
  // Who gives a letter up says so in its record, if there is one.
  const isGivenUp = record === 'discarded' && watch?.tooOld.has(run)
  if (effects === 1 && hasRecords && record !== 'processed' && !isRemoved && !isGivenUp && !mayBeTwo)
    found.push(`UNRECORDED: ${run} took effect, its record is ${record}`)
  if (parked && hasRecords && record !== 'parked' && !isUnclaimed(parked) && !isRemoved)
    found.push(`UNRECORDED: ${run} is parked, its record is ${record}`)
  if (isMended && parked)
    found.push(`GIVEN UP: ${run} is still parked, although its handler was repaired and it was redriven`)
  const isCondemned = mayCondemn && reason === 'PROCESS_DIED'
  if (parked?.state === 'dead' && !endsAsDeadLetter(behaviour) && !isCondemned && !isTooOld)
    found.push(`GIVEN UP: ${run} is a dead letter although it would have succeeded (${behaviour})`)
  if (!saysWhatIsSent) return found
  if (effects === 1 && sent !== 1) found.push(`MESSAGES: ${run} took effect once and sent ${sent} different messages`)
  if (effects === 0 && sent > 0) found.push(`MESSAGES: ${run} had no effect and sent ${sent} messages`)
  return found
}

/**
 * A message that was with as many dying processes as it has attempts is a dead letter, even if it had no part in it:
 * nobody could tell. In worlds with fewer deaths there is no excuse.
 */
function mayCondemn({ deaths }: World): boolean {
  return deaths >= attempts
}

function aboutBalances(world: World, effects: ReadonlyMap<string, number>): string[] {
  const total = [...effects.values()].reduce((sum, value) => sum + value, 0)
  const balances = world.database.scan(undefined, 'balances').reduce((sum, { row }) => sum + (row.total as number), 0)
  return total === balances ? [] : [`TORN: ${total} effects, but the balances add up to ${balances}`]
}

/** Where nothing is broken but one handler, the others are not late. */
function aboutStarving({ scenario, database }: World): string[] {
  if (scenario.sickUntil === undefined) return []
  const healthy = new Map(scenario.messages.flatMap((each) => (each.type === 'sick' ? [] : [[each.id, each] as const])))
  return database.scan(undefined, 'effects').flatMap(({ row }) => {
    const sentAt = healthy.get(row.message as string)?.sentAt[0]
    const lateMs = sentAt === undefined ? 0 : (row.at as number) - sentAt
    return lateMs > starvesAfterMs ? `STARVED: ${row.handler}|${row.message} took effect after ${lateMs} ms` : []
  })
}

/** What a broker delivers in order takes effect in order, for handlers that ask for it. */
function aboutOrder(world: World): string[] {
  const { messages, order, whenDead, mendedAt, retention } = world.scenario
  if (order !== 'keep' || (whenDead === 'continue' && mendedAt !== undefined && mayCondemn(world))) return []
  const noted = notedIn(world)
  // What went on past a dead letter, past one of which only a note could be kept, or past one that was skipped, cannot be in order with it when that is redriven.
  const isTooOld = ({ id }: ScenarioMessage) => world.watch?.tooOld.has(`line|${id}`) === true
  const isPassed = (message: ScenarioMessage) =>
    (message.large && noted.has(message.id)) ||
    (whenDead === 'continue'
      ? endsAsDeadLetter(message.behaviour) || isTooOld(message)
      : retention?.tooOld === 'skip' && isTooOld(message))
  const inLine = messages.filter((message) => !isPassed(message) && !world.watch?.forgotten.has(`line|${message.id}`))
  const keyOf = new Map(inLine.map(({ id, key }) => [id, key]))
  const lines = Map.groupBy(
    world.database.scan(undefined, 'effects').filter(({ row }) => row.handler === 'line'),
    ({ row }) => keyOf.get(row.message as string),
  )
  const found: string[] = []
  for (const [key, line] of lines) {
    if (key === undefined) continue
    const places = line.toSorted((a, b) => Number(a.row.place) - Number(b.row.place))
    // The first effect of each: whether there may be a second one (a letter that nobody could know was redriven) is asked elsewhere.
    const inEffect = [...new Set(places.map(({ row }) => `${row.message}`))]
    const asSent = inEffect.toSorted((a, b) => firstSent(world, a) - firstSent(world, b))
    if (inEffect.join() !== asSent.join())
      found.push(`DISORDER: of ${key} were sent ${asSent.join(', ')}, and took effect ${inEffect.join(', ')}`)
  }
  return found
}

function firstSent({ broker, database, scenario }: World, id: string): number {
  return scenario.shape === 'database' ? (firstSentInside(database, id) ?? Number.NaN) : broker.firstSent(id)
}

/** What handlers of an ordered key publish under it reaches the broker in the order of their effects. */
function aboutSending(world: World): string[] {
  // What is delayed differently leaves in another order.
  if (world.scenario.order !== 'keep' || world.scenario.delays) return []
  const effects = world.database.scan(undefined, 'effects').filter(({ row }) => row.handler === 'line')
  const times = count(effects.map(({ row }) => `${row.message}`))
  const placeOf = new Map(effects.map(({ row }) => [row.message as string, row.place as number]))
  const found: string[] = []
  const lastOf = new Map<string, string>()
  for (const { message } of world.broker.published.values()) {
    const { of, by } = JSON.parse(Buffer.from(message.body).toString()) as { of: string; by: string }
    // Messages without a key run at the same time then, in no order.
    if (world.scenario.interleave && message.key === 'none') continue
    // What has run again, because its record was removed, has two places.
    if (by !== 'line' || message.key === undefined || times.get(of) !== 1) continue
    const before = lastOf.get(message.key)
    if (before !== undefined && (placeOf.get(before) ?? 0) > (placeOf.get(of) ?? 0))
      found.push(`OVERTAKEN: what ${of} published under ${message.key} was sent after that of ${before}`)
    lastOf.set(message.key, of)
  }
  return found
}

/** A message is put into the queue of its destination once, whether it was delayed or not. */
function aboutLeaving({ database, scenario }: World): string[] {
  const left = database.scan(undefined, 'left').map(({ row }) => unpackOutgoing(row.message as PackedMessage))
  // A handler that is content with at least once publishes again under the same id.
  const isAgain = ({ body }: { readonly body: Uint8Array }) =>
    scenario.loose === true && (JSON.parse(Buffer.from(body).toString()) as { by: string }).by === 'first'
  const times = count(left.filter((message) => !isAgain(message)).map(({ id }) => id))
  return [...times].flatMap(([id, put]) => (put > 1 ? `TWICE: ${id} was put into its queue ${put} times` : []))
}

/** Every tick of a schedule has its message, from the first one on. */
function aboutTicks({ database, scenario }: World): string[] {
  if (!scenario.ticks) return []
  const left = database.scan(undefined, 'left').map(({ row }) => unpackOutgoing(row.message as PackedMessage))
  const ticks = left.filter(({ id }) => isTick(id)).map(({ sentAt }) => sentAt.getTime())
  const sorted = [...new Set(ticks)].sort((a, b) => a - b)
  return sorted.flatMap((at, index) => {
    const before = sorted[index - 1]
    return before !== undefined && at - before !== tickMs ? `LOST: there is no tick between ${before} and ${at}` : []
  })
}

/** Ids that are derived from a tick are of version 8, all others that are published here of version 7. */
function isTick(id: string): boolean {
  return id[14] === '8'
}

function publishedBy(world: World): Map<string, number> {
  const runs: string[] = []
  for (const { message } of world.broker.published.values()) {
    const { of, by } = JSON.parse(Buffer.from(message.body).toString()) as { of: string; by: string }
    runs.push(`${by}|${of}`)
  }
  return count(runs)
}

function count(items: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1)
  return counts
}
