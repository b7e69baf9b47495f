import type { OutgoingMessage, PackedMessage } from '../../../src/contracts/index.ts'
import { unpackOutgoing } from '../../../src/encoding/packed-message.ts'
import type { Row } from '../database/sim-database.ts'
import { type Destination, destinations, tickMs } from './plan.ts'
import { cancelledTable, publishedTable } from './real-app.ts'
import type { OutgoingWorld } from './world.ts'

const dayMs = 86_400_000

/** A message as it was put into the queue of its destination, in the history that the database knows. */
interface Left {
  readonly message: OutgoingMessage
  readonly queue: string
  /** By the database's clock. */
  readonly at: number
}

/** Everything that must be true when the world has come to rest. */
export function violations(world: OutgoingWorld, rested: boolean): string[] {
  const { database } = world
  const left = database.scan(undefined, 'left').map(({ row }) => readLeft(row))
  const published = new Map(database.scan(undefined, publishedTable).map(({ key, row }) => [key, row]))
  const cancelled = database.scan(undefined, cancelledTable).flatMap(({ row }) => (row.isCancelled ? `${row.id}` : []))
  return [
    ...(rested ? [] : ['STUCK: the world did not come to rest']),
    ...aboutEach(world, published, left, new Set(cancelled)),
    ...repeated(cancelled).map((id) => `CANCELLED: ${id} was cancelled twice`),
    ...aboutDestinations(world),
    ...aboutOrder(world, published),
    ...aboutTicks(world, left),
  ]
}

function aboutEach(
  world: OutgoingWorld,
  published: ReadonlyMap<string, Row>,
  left: readonly Left[],
  cancelled: ReadonlySet<string>,
): string[] {
  const arrived = new Set(
    Object.values(world.outlets).flatMap((outlet) => outlet.arrived.map(({ message }) => message.id)),
  )
  const isRestored = world.plan.restore !== undefined
  return world.plan.publications.flatMap(({ id }) => {
    const row = published.get(id)
    const puts = left.filter(({ message }) => message.id === id)
    const found: string[] = []
    if (puts.length > 1) found.push(`TWICE: ${id} was put into its queue ${puts.length} times`)
    // What was sent in a history that the database has lost cannot be taken back.
    if (row === undefined && (puts.length > 0 || (arrived.has(id) && !isRestored)))
      found.push(`MESSAGES: ${id} was sent, and its transaction did not commit`)
    if (cancelled.has(id) && (puts.length > 0 || (arrived.has(id) && !isRestored)))
      found.push(`CANCELLED: ${id} was sent, although it had been cancelled`)
    if (row !== undefined && !cancelled.has(id) && !arrived.has(id)) found.push(`LOST: ${id} has not been sent`)
    for (const { at } of puts)
      if (row !== undefined && at < Number(row.due))
        found.push(`EARLY: ${id} left ${Number(row.due) - at} ms too early`)
    return found
  })
}

/** What was published to a destination goes there and nowhere else. */
function aboutDestinations({ outlets }: OutgoingWorld): string[] {
  return Object.values(outlets).flatMap(({ name, arrived }) =>
    arrived.flatMap(({ message: { id, type } }) =>
      type.startsWith(`${name}.`) ? [] : `MISDIRECTED: ${id} of type ${type} arrived at ${name}`,
    ),
  )
}

/** Those of a key that leave at once arrive in the order of their transactions. Delayed ones take their place when they are due. */
function aboutOrder({ outlets, plan }: OutgoingWorld, published: ReadonlyMap<string, Row>): string[] {
  if (plan.restore !== undefined) return []
  const atOnce = new Set(plan.publications.flatMap(({ id, due }) => (due === undefined ? id : [])))
  return Object.values(outlets).flatMap(({ arrived }) => {
    const lastPlace = new Map<string, { readonly id: string; readonly place: number }>()
    const first = new Set(arrived.map(({ message }) => message.id).filter((id) => atOnce.has(id)))
    return [...first].flatMap((id) => {
      const { key, place } = (published.get(id) ?? {}) as { readonly key?: string; readonly place?: number }
      if (key === undefined || place === undefined) return []
      const before = lastPlace.get(key)
      lastPlace.set(key, { id, place })
      return before !== undefined && before.place > place ? `OVERTAKEN: ${id} of ${key} arrived after ${before.id}` : []
    })
  })
}

/** Each tick has one message, from the first one on, and always under the same id. */
function aboutTicks({ outlets, plan, database }: OutgoingWorld, left: readonly Left[]): string[] {
  const { clock } = plan
  // A clock that was further ahead than a day is not believed: then the ticks continue from the right time.
  const isFar = clock !== undefined && clock.aheadMs > dayMs
  const rightFrom = isFar ? database.installedAt + clock.at + clock.lastsMs + 10_000 : 0
  const rightUntil = isFar ? database.date().getTime() : Number.POSITIVE_INFINITY
  return (Object.keys(outlets) as Destination[]).flatMap((name) => {
    const type = `${name}.tick`
    const ticks = left.filter(({ message }) => message.type === type).map(({ message }) => message.sentAt.getTime())
    const ids = outlets[name].arrived.filter(({ message }) => message.type === type)
    const idsOf = Map.groupBy(ids, ({ message }) => message.sentAt.getTime())
    const counted = ticks.filter((at) => at >= rightFrom && at <= rightUntil)
    const sorted = [...new Set(counted)].sort((a, b) => a - b)
    const everyMs = tickMs[destinations[name]]
    return [
      ...repeated(isFar ? [] : ticks.map(String)).map((at) => `TICK: ${name} has two messages of ${at}`),
      ...[...idsOf].flatMap(([at, some]) => {
        const different = new Set(some.map(({ message }) => message.id)).size
        return different > 1 ? `TICK: ${name} has ${different} ids for ${at}` : []
      }),
      ...sorted.flatMap((at, index) => {
        const before = sorted[index - 1]
        return before !== undefined && at - before !== everyMs
          ? `LOST: ${name} has no tick between ${before} and ${at}`
          : []
      }),
    ]
  })
}

function readLeft(row: Row): Left {
  return { message: unpackOutgoing(row.message as PackedMessage), queue: `${row.queue}`, at: Number(row.at) }
}

function repeated(items: readonly string[]): readonly string[] {
  return [...new Set(items.filter((item, index) => items.indexOf(item) !== index))]
}
