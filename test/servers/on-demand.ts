import { type Acquired, acquire } from './acquire.ts'
import { definitions, type ServerName } from './definitions.ts'
import type { Environment } from './plan.ts'
import type { RunningServer, ServerDefinition } from './server.ts'

export interface ServersOnDemand {
  /** Starts the server at the first call; every later call gets the same one. */
  get(name: ServerName): Promise<Acquired>
  stopAll(): Promise<void>
}

/** Shared servers that start only when a test file asks, so that a run of unit tests waits for none of them. */
export function serversOnDemand(env: Environment, announce: (line: string) => void): ServersOnDemand {
  const asked = new Map<string, Promise<Acquired>>()
  const started: RunningServer[] = []

  function get(name: string): Promise<Acquired> {
    const earlier = asked.get(name)
    if (earlier) return earlier
    const answer = start(definitions[name as ServerName])
    asked.set(name, answer)
    return answer
  }

  async function start(definition: ServerDefinition): Promise<Acquired> {
    const urls: Record<string, string> = {}
    for (const needed of definition.needs ?? []) {
      const acquired = await get(needed)
      if (acquired.kind === 'missing') return acquired
      urls[needed] = acquired.server.url
    }
    const acquired = await acquire(definition, env, urls)
    if (acquired.kind === 'running') {
      const { server } = acquired
      started.push(server)
      announce(`${server.name} ${server.version} at ${new URL(server.url).host}`)
    }
    return acquired
  }

  return {
    get,
    async stopAll() {
      // Those still starting would otherwise outlive the run.
      await Promise.allSettled(asked.values())
      // A server goes before the one it needs.
      for (const server of started.reverse()) await server.stop()
    },
  }
}
