import type { AmqpClient, AmqpConnection } from './client-shapes.ts'
import type { WayToConnect } from './options.ts'

/** A connection that says nothing for twice this long is dead. The client's default would notice after two minutes. */
const heartbeatSeconds = '10'

export function connectBy(options: WayToConnect): () => PromiseLike<AmqpConnection> {
  if (options.connect !== undefined) return options.connect
  const { client, url, connectTimeoutMs = 10_000 } = options
  const address = new URL(url as string)
  if (!address.searchParams.has('heartbeat')) address.searchParams.set('heartbeat', heartbeatSeconds)
  return () => (client as AmqpClient).connect(address.href, { timeout: connectTimeoutMs })
}
