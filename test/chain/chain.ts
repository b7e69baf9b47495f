import { setTimeout as pause } from 'node:timers/promises'
import type { OutgoingMessage } from '../../src/contracts/index.ts'
import { Random } from '../simulator/random.ts'
import { type Role, type ServiceConfig, typeFor } from './config.ts'
import { type OpenedDatabase, openDatabase } from './open-database.ts'
import { openWay } from './open-way.ts'
import { type Place, type PlaceName, places } from './places.ts'
import { Service } from './service.ts'

export interface ChainOptions {
  readonly place: PlaceName
  readonly messages: number
  /** How many processes or servers are killed while the messages pass. */
  readonly strikes: number
  /** Processes of each service. */
  readonly processes: number
  readonly seed: number
  say?(line: string): void
}

export interface ChainResult {
  readonly sent: number
  readonly killed: Readonly<Record<string, number>>
  /** What did not take effect exactly once in each service, and how often it did. */
  readonly wrong: readonly string[]
}

const roles = ['b', 'c'] as const
const patienceMs = 180_000

/** A sends messages, B handles and publishes, C handles what B has published, while processes and servers are killed at random. */
export async function runChain({ strikes, seed, say, ...options }: ChainOptions): Promise<ChainResult> {
  await using chain = await openChain(options)
  const { place, services, ids } = chain
  const random = new Random(seed)
  chain.start()
  const sending = chain.send(ids)
  const killed = await strike(place, services, { strikes, random, say })
  await sending
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
  const services: Service[] = []
  const start = () => {
    for (const role of roles)
      for (let index = 0; index < processes; index++)
        services.push(new Service({ role, database: place.databases[role], way: place.way, namesMessages }))
  }
  const stop = () => Promise.all(services.splice(0).map((service) => service.stop()))
  opening.defer(async () => void (await stop()))
  const ids = Array.from({ length: messages }, (_, index) => `m${index}`)
  const untilThere = (role: Role) =>
    untilAllAre(databases[role], role, ids, () => services.map(({ story }) => story).join('\n'))
  const opened = opening.move()
  return {
    place,
    services,
    ids,
    start,
    untilThere,
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
    const parked = await databases[role].store.parking.list({ kind: 'any' })
    wrong.push(
      ...parked.map(({ handler, messageId, reason }) => `${role}: ${messageId} is parked under ${handler}: ${reason}`),
    )
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
    await pause(20)
  }
  await way.close()
}

interface Strikes extends Pick<ChainOptions, 'strikes' | 'say'> {
  readonly random: Random
}

async function strike({ servers }: Place, services: readonly Service[], { strikes, random, say }: Strikes) {
  const killed: Record<string, number> = { process: 0, server: 0 }
  for (let count = 0; count < strikes; count++) {
    await pause(random.between(200, 1_500))
    const isServer = servers.length > 0 && random.chance(0.35)
    say?.(`${count + 1} of ${strikes}: ${isServer ? 'a server' : 'a process'} is killed`)
    killed[isServer ? 'server' : 'process'] = (killed[isServer ? 'server' : 'process'] ?? 0) + 1
    if (!isServer) await random.pick(services).kill()
    else {
      const server = random.pick(servers)
      await server.kill9()
      await pause(random.between(100, 1_000))
      await server.restart()
    }
  }
  return killed
}

async function untilAllAre(database: OpenedDatabase, role: Role, ids: readonly string[], story: () => string) {
  const until = performance.now() + patienceMs
  for (;;) {
    const times = await database.effects(role).catch(() => new Map<string, number>())
    if (ids.every((id) => times.has(id))) return
    if (performance.now() > until) {
      const missing = ids.filter((id) => !times.has(id))
      throw new Error(
        `${missing.length} of ${ids.length} did not arrive at ${role}: ${missing.slice(0, 10).join(', ')}\n${story()}`,
      )
    }
    await pause(100)
  }
}
