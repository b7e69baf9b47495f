import type { AmqpClient, AmqpConnection } from './client-shapes.ts'
import type { WayToConnect } from './options.ts'

/** A connection that is silent for twice this long is considered dead. The client's default would take two minutes. */
const heartbeatSeconds = '10'

export function connectBy(options: WayToConnect): () => PromiseLike<AmqpConnection> {
  if (options.connect !== undefined) return options.connect
  const { client, url, connectTimeoutMs = 10_000 } = options
  const address = new URL(url as string)
  if (!address.searchParams.has('heartbeat')) address.searchParams.set('heartbeat', heartbeatSeconds)
  return () => (client as AmqpClient).connect(address.href, { timeout: connectTimeoutMs })
}
