import { setTimeout as pause } from 'node:timers/promises'
import type { OutgoingMessage } from '../../src/contracts/index.ts'
import { Random } from '../simulator/random.ts'
import { type Role, type ServiceConfig, typeFor } from './config.ts'
import { type OpenedDatabase, openDatabase } from './open-database.ts'
import { openWay } from './open-way.ts'
import { type Place, type PlaceName, places } from './places.ts'
import { Service } from './service.ts'
import { planStrikes, serverVictim, serviceVictim } from './strikes.ts'

export interface ChainOptions {
  readonly place: PlaceName
  readonly messages: number
  /** How many processes or servers are killed while the messages pass: each service and each server once, and then any of them. */
  readonly strikes: number
  /** Processes of each service. */
  readonly processes: number
  readonly seed: number
  say?(line: string): void
}

export interface ChainResult {
  readonly sent: number
  /** How often each service and each server was killed. */
  readonly killed: Readonly<Record<string, number>>
  /** What did not take effect exactly once in each service, and how often it did. */
  readonly wrong: readonly string[]
}

const roles = ['b', 'c'] as const
const patienceMs = 180_000
const betweenMessagesMs = 20
const trustMs = 1_000

/** A sends messages, B handles and publishes, C handles what B has published, while processes and servers are killed at random. */
export async function runChain({ strikes, seed, say, ...options }: ChainOptions): Promise<ChainResult> {
  await using chain = await openChain(options)
  const { victims, ids } = chain
  const random = new Random(seed)
  chain.start()
  const killed: Record<string, number> = {}
  const parts = inParts(ids, strikes + 1)
  await chain.send(parts[0] ?? [])
  for (const [index, victim] of planStrikes(victims, strikes, random).entries()) {
    // Whoever was killed before is at work again, and messages are on their way between all of them.
    await chain.untilSomeAreThere('c', parts[index] ?? [])
    const next = parts[index + 1] ?? []
    const sending = chain.send(next)
    await pause(random.below(next.length * betweenMessagesMs + 1))
    say?.(`${index + 1} of ${strikes}: ${victim.name} is killed`)
    await Promise.all([sending, victim.strike(random)])
    killed[victim.name] = (killed[victim.name] ?? 0) + 1
  }
  return { sent: ids.length, killed, wrong: await chain.end() }
}

/** The same without kills, but the database of B goes back to where it was in the middle, while B runs. Then A sends everything again. */
export async function runRestoredChain(options: Omit<ChainOptions, 'strikes' | 'seed' | 'say'>): Promise<ChainResult> {
  await using chain = await openChain({ ...options, namesMessages: true })
  const { place, ids } = chain
  chain.start()
  await chain.send(ids.slice(0, ids.length / 2))
  await place.backUp?.()
  await chain.send(ids.slice(ids.length / 2))
  await chain.untilThere('c')
  await place.restore?.()
  // What a process knows of its database counts for a second, and nobody restores a backup within a second of the last message.
  await pause(trustMs)
  await chain.send(ids)
  await chain.untilThere('b')
  return { sent: ids.length, killed: {}, wrong: await chain.end() }
}

type OpenOptions = Pick<ChainOptions, 'place' | 'messages' | 'processes'> & Pick<ServiceConfig, 'namesMessages'>

async function openChain({ place: name, messages, processes, namesMessages = false }: OpenOptions) {
  await using opening = new AsyncDisposableStack()
  const place = await places[name].open()
  opening.defer(() => place.close())
  const databases = await openBoth(place, opening)
  const services: Readonly<Record<Role, Service[]>> = { b: [], c: [] }
  const all = () => roles.flatMap((role) => services[role])
  const start = () => {
    for (const role of roles)
      for (let index = 0; index < processes; index++)
        services[role].push(new Service({ role, database: place.databases[role], way: place.way, namesMessages }))
  }
  const stop = () => Promise.all(roles.flatMap((role) => services[role].splice(0)).map((service) => service.stop()))
  opening.defer(async () => void (await stop()))
  const ids = Array.from({ length: messages }, (_, index) => `m${index}`)
  const untilThere = (role: Role, some: readonly string[] = ids, howMany = some.length) =>
    untilThey(databases[role], role, some, howMany, () =>
      all()
        .map(({ story }) => story)
        .join('\n'),
    )
  const opened = opening.move()
  const victims = [
    ...roles.map((role) => serviceVictim(role, services[role])),
    ...place.servers.map((server) => serverVictim(server)),
  ]
  return {
    place,
    victims,
    ids,
    start,
    untilThere: (role: Role) => untilThere(role),
    untilSomeAreThere: (role: Role, some: readonly string[]) => untilThere(role, some, Math.min(1, some.length)),
    send: (some: readonly string[]) => sendAll(place, databases.b, some),
    /** What is unsettled when the services stop goes back to the broker: it is sent through once more, until nothing is left. */
    async end(): Promise<readonly string[]> {
      for (let round = 0; round < 2; round++) {
        await untilThere('c')
        await stop()
        if (round === 0) start()
      }
      return await wrongIn(databases, ids)
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

async function wrongIn(
  databases: Readonly<Record<Role, OpenedDatabase>>,
  ids: readonly string[],
): Promise<readonly string[]> {
  const wrong: string[] = []
  for (const role of roles) {
    const times = await databases[role].effects(role)
    for (const id of new Set([...ids, ...times.keys()]))
      if (times.get(id) !== 1) wrong.push(`${role}: ${id} took effect ${times.get(id) ?? 0} times`)
    wrong.push(...(await parkedIn(databases[role])).map((row) => `${role}: ${row}`))
  }
  return wrong
}

async function openBoth(place: Place, opened: AsyncDisposableStack): Promise<Record<Role, OpenedDatabase>> {
  const open = async (role: Role) => {
    const database = await openDatabase(place.databases[role])
    opened.defer(() => database.close())
    await database.store.schema.install()
    await database.effects(role)
    return database
  }
  return { b: await open('b'), c: await open('c') }
}

/** A producer that sends again, under the same id, whatever it has no answer to. */
async function sendAll(place: Place, { store }: OpenedDatabase, ids: readonly string[]): Promise<void> {
  const way = await openWay(place.way, 'b', store)
  for (const id of ids) {
    const until = performance.now() + patienceMs
    const body = Buffer.from(JSON.stringify({ of: id }))
    const message: OutgoingMessage = { id, type: typeFor.b, body, headers: {}, key: id, sentAt: new Date() }
    for (;;) {
      try {
        const [result] = await way.publish([message])
        if (result?.kind === 'sent') break
      } catch (error) {
        if (performance.now() > until) throw error
      }
      await pause(100)
    }
    await pause(betweenMessagesMs)
  }
  await way.close()
}

/** Waits until so many of the ids have taken effect. */
async function untilThey(
  database: OpenedDatabase,
  role: Role,
  ids: readonly string[],
  howMany: number,
  story: () => string,
) {
  const until = performance.now() + patienceMs
  for (;;) {
    const times = await database.effects(role).catch(() => new Map<string, number>())
    const missing = ids.filter((id) => !times.has(id))
    if (ids.length - missing.length >= howMany) return
    if (performance.now() > until) {
      const lines = [
        `${missing.length} of ${ids.length} did not arrive at ${role}: ${missing.slice(0, 10).join(', ')}`,
        ...(await parkedIn(database)),
        story(),
      ]
      throw new Error(lines.join('\n'))
    }
    await pause(100)
  }
}

async function parkedIn({ store }: OpenedDatabase): Promise<readonly string[]> {
  const parked = await store.parking.list({ kind: 'any' })
  return parked.map(({ handler, messageId, reason }) => `${messageId} is parked under ${handler}: ${reason}`)
}

function inParts(ids: readonly string[], count: number): readonly (readonly string[])[] {
  const each = Math.ceil(ids.length / count)
  return Array.from({ length: count }, (_, index) => ids.slice(index * each, (index + 1) * each))
}
