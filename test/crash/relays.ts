import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { OutgoingMessage } from '../../src/driver.ts'
import { justonce, type Publisher } from '../../src/index.ts'
import { ConsumerChild } from './consumer-child.ts'
import { type Arrival, type RelayConfig, relayDestination } from './fixtures/relay-config.ts'
import type { StoreUnderTest } from './stores.ts'

const leaseMs = 1_500
const keys = ['a', 'b', 'c']

/** Parents publish only: relays send. */
const nowhere: Publisher = {
  destination: relayDestination,
  async publish(messages: readonly OutgoingMessage[]) {
    throw new Error(`the parent was to send ${messages.length} messages`)
  },
  async close() {},
}

export type Relays = Awaited<ReturnType<typeof openRelays>>

function byKey(all: readonly Arrival[]): Readonly<Record<string, readonly string[]>> {
  const grouped = Object.groupBy(all, ({ key }) => key)
  return Object.fromEntries(Object.entries(grouped).map(([key, some = []]) => [key, some.map(({ id }) => id)]))
}

/** A database in which messages wait to be sent, the relay processes that send them, and the place where they arrive. */
export async function openRelays(store: StoreUnderTest) {
  await using opening = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'justonce-relay-'))
  opening.defer(() => rm(folder, { recursive: true, force: true }))
  const world = opening.use(await store.open('inside'))
  const children: ConsumerChild[] = []
  opening.defer(async () => void (await Promise.all(children.map((child) => child.kill()))))
  const arrivals = join(folder, 'arrivals')
  const app = justonce({ store: world.store, to: nowhere, only: 'maintenance', log: false })
  const published: Arrival[] = []

  const arrived = async (): Promise<readonly Arrival[]> => {
    const text = await readFile(arrivals, 'utf8').catch(() => '')
    return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Arrival]))
  }
  const owned = opening.move()
  return {
    world,
    app,
    /** So many messages, of each key in turn, one transaction each. */
    async publish(count: number, given: readonly string[] = keys) {
      for (let index = 0; index < count; index++) {
        const key = given[index % given.length] as string
        const id = `m${String(published.length + 1).padStart(3, '0')}`
        await world.store.transaction((tx) => app.publish('note.tagged', {}, { tx, id, key }))
        published.push({ id, key })
      }
    },
    /** The same, many in one transaction. */
    async publishAll(count: number, given: readonly string[]) {
      const some = Array.from({ length: count }, (_, index) => ({
        id: `m${published.length + index + 1}`,
        key: given[index % given.length] as string,
      }))
      const messages = some.map((each) => ({ ...each, type: 'note.tagged', body: {} }))
      await world.store.transaction((tx) => app.publishAll(messages, { tx }))
      published.push(...some)
    },
    start(config: Partial<RelayConfig> = {}): ConsumerChild {
      const child = new ConsumerChild({ database: world.database, arrivals, leaseMs, ...config })
      children.push(child)
      return child
    },
    /** How often it has arrived. */
    copiesOf: async (id: string) => (await arrived()).filter((each) => each.id === id).length,
    untilSent: () => world.until(async () => (await world.remaining()).outgoing === 0, 'Everything being sent'),
    /** How many messages have arrived, copies included. */
    arrivals: async () => (await readFile(arrivals, 'utf8').catch(() => '')).split('\n').length - 1,
    /** What arrived under each key, copies left out, beside what was published under it. */
    async orders() {
      // Each has the place of its first copy.
      const firsts = new Map((await arrived()).map((each) => [each.id, each]))
      return { arrived: byKey([...firsts.values()]), published: byKey(published) }
    },
    async [Symbol.asyncDispose]() {
      await owned.disposeAsync()
    },
  }
}
