import { createClient } from 'redis'
import { freePort, localhost } from './address.ts'
import { type RedisServer, startRedis, withRedis } from './redis.ts'

export interface RedisCluster {
  readonly nodes: readonly RedisServer[]
  readonly urls: readonly string[]
  stop(): Promise<void>
}

const slots = 16_384

/** Three nodes that share out the slots, without replicas. */
export async function startRedisCluster(): Promise<RedisCluster> {
  const nodes: RedisServer[] = []
  /** Otherwise the nodes would talk to each other on their port + 10,000, no matter who has that. */
  const busPorts: number[] = []
  const stop = async (): Promise<void> => {
    await Promise.all(nodes.map((node) => node.stop()))
  }
  try {
    for (let count = 0; count < 3; count++) {
      const busPort = await freePort()
      const settings = { 'cluster-enabled': 'yes', 'cluster-node-timeout': 20_000, 'cluster-port': busPort }
      busPorts.push(busPort)
      nodes.push(await startRedis({ settings }))
    }
    const [first] = nodes as [RedisServer, ...RedisServer[]]
    for (const [index, node] of nodes.entries()) {
      const from = Math.floor((index * slots) / nodes.length)
      const to = Math.floor(((index + 1) * slots) / nodes.length) - 1
      await send(node, 'CLUSTER', 'ADDSLOTSRANGE', String(from), String(to))
      await send(node, 'CLUSTER', 'SET-CONFIG-EPOCH', String(index + 1))
    }
    for (const [index, { port }] of nodes.entries())
      if (index > 0) await send(first, 'CLUSTER', 'MEET', localhost, String(port), String(busPorts[index]))
    for (const node of nodes) await untilWhole(node, nodes.length)
  } catch (error) {
    await stop()
    throw error
  }
  return { nodes, urls: nodes.map(({ url }) => url), stop }
}

async function send(node: RedisServer, ...args: string[]): Promise<string> {
  return await withRedis(node.url, async (client) => String(await client.sendCommand(args)))
}

/** Every node has to have heard of every slot before a client asks it where they are. */
async function untilWhole(node: RedisServer, size: number): Promise<void> {
  const client = createClient({ url: node.url })
  client.on('error', () => {})
  await client.connect()
  try {
    for (const deadline = Date.now() + 30_000; ; ) {
      const info = String(await client.sendCommand(['CLUSTER', 'INFO']))
      if (info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${size}`)) return
      if (Date.now() > deadline) throw new Error(`The cluster has not come together:\n${info}`)
      await new Promise((resolve) => setTimeout(resolve, 25))
    }
  } finally {
    client.destroy()
  }
}
