import { type FaultProxy, startProxy } from '../servers/proxy.ts'
import type { ConsumerChild } from './consumer-child.ts'
import type { DatabaseAddress } from './fixtures/consumer-config.ts'
import type { StoreUnderTest } from './stores.ts'
import type { Acknowledging, World } from './world.ts'

/** A world on a server that its consumers reach through a proxy, while the test itself does not. */
export interface ProxiedWorld extends AsyncDisposable {
  readonly world: World
  readonly proxy: FaultProxy
  /** For `world.start`. */
  readonly database: DatabaseAddress
}

export async function openProxiedWorld(store: StoreUnderTest, acknowledging: Acknowledging): Promise<ProxiedWorld> {
  const world = await store.open(acknowledging)
  if (world.database.kind === 'sqlite') throw new Error('There is nothing between a process and its file.')
  const { url } = world.database
  const { hostname, port } = new URL(url)
  const proxy = await startProxy(hostname, Number(port))
  return {
    world,
    proxy,
    database: { ...world.database, url: proxy.url(url) },
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]()
      await proxy.stop()
    },
  }
}

/** How often this process was given the message. */
export function deliveriesOf(child: ConsumerChild, message: string): number {
  return child.all('delivered').flatMap(({ keys = [] }) => keys.filter((key) => key === message)).length
}
