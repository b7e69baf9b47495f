import type { ScenarioMessage } from './scenario.ts'
import type { World } from './world.ts'

const handlersOf = { single: ['one'], double: ['first', 'second'], bulk: ['bulk'] } as const

/** Everything that must be true when a world has come to rest. Each violation is a sentence about one message. */
export function violations(world: World, rested: boolean): string[] {
  const found: string[] = []
  if (!rested) found.push('STUCK: the world did not come to rest')
  const effects = count(world.database.scan(undefined, 'effects').map(({ row }) => `${row.handler}|${row.message}`))
  const records = new Map(world.database.scan(undefined, 'inbox').map(({ key, row }) => [key, row.state]))
  const parked = new Set(world.database.scan(undefined, 'parked').map(({ key }) => key))
  const sent = publishedBy(world)
  for (const message of world.scenario.messages) {
    for (const handler of handlersOf[message.type]) {
      const run = `${handler}|${message.id}`
      found.push(
        ...aboutRun(message, run, effects.get(run) ?? 0, records.get(run), parked.has(run), sent.get(run) ?? 0),
      )
    }
  }
  found.push(...aboutBalances(world, effects))
  for (const { key, row } of world.database.scan(undefined, 'late')) {
    if (!effects.has(`${row.handler}|${key}`)) found.push(`ESCAPED: a late write of ${key} stands without its effect`)
  }
  for (const { key } of world.database.scan(undefined, 'escaped'))
    found.push(`ESCAPED: ${key} wrote after its transaction had ended`)
  return found
}

function aboutRun(
  { behaviour }: ScenarioMessage,
  run: string,
  effects: number,
  record: unknown,
  parked: boolean,
  sent: number,
): string[] {
  const found: string[] = []
  if (effects > 1) found.push(`DOUBLED: ${run} took effect ${effects} times`)
  if (effects === 0 && !parked) found.push(`LOST: ${run} has no effect and is not parked`)
  if (effects > 0 && parked) found.push(`DOUBLED: ${run} took effect and is parked as well`)
  if (effects === 1 && record !== 'processed') found.push(`UNRECORDED: ${run} took effect, its record is ${record}`)
  if (parked && record !== 'parked') found.push(`UNRECORDED: ${run} is parked, its record is ${record}`)
  if (parked && behaviour !== 'throws-always')
    found.push(`GIVEN UP: ${run} is a dead letter although it would have succeeded (${behaviour})`)
  if (effects === 1 && sent !== 1) found.push(`MESSAGES: ${run} took effect once and sent ${sent} different messages`)
  if (effects === 0 && sent > 0) found.push(`MESSAGES: ${run} had no effect and sent ${sent} messages`)
  return found
}

function aboutBalances(world: World, effects: ReadonlyMap<string, number>): string[] {
  const total = [...effects.values()].reduce((sum, value) => sum + value, 0)
  const balances = world.database.scan(undefined, 'balances').reduce((sum, { row }) => sum + (row.total as number), 0)
  return total === balances ? [] : [`TORN: ${total} effects, but the balances add up to ${balances}`]
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
