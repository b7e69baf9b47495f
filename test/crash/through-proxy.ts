import { type FaultProxy, startProxy } from '../servers/proxy.ts'
import type { ConsumerChild } from './consumer-child.ts'
import type { DatabaseAddress } from './fixtures/consumer-config.ts'
import { onPostgres } from './stores.ts'
import type { Acknowledging, World } from './world.ts'

/** A world in Postgres whose consumers reach it through a proxy, while the test itself does not. */
export interface ProxiedWorld extends AsyncDisposable {
  readonly world: World
  readonly proxy: FaultProxy
  /** For `world.start`. */
  readonly database: DatabaseAddress
}

export async function openProxiedWorld(acknowledging: Acknowledging): Promise<ProxiedWorld> {
  const world = await onPostgres.open(acknowledging)
  const { url } = world.database as { url: string }
  const { hostname, port } = new URL(url)
  const proxy = await startProxy(hostname, Number(port))
  return {
    world,
    proxy,
    database: { kind: 'postgres', url: proxy.url(url) },
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
