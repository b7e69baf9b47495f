import { inject } from 'vitest'
import { settledPlan } from './acquire.ts'
import { definitions, type ServerName } from './definitions.ts'
import type { ServerAnswer } from './global-setup.ts'
import { reasonToSkip } from './plan.ts'
import type { InPackages } from './server.ts'

/** For `describe.skipIf(!postgres.available)`; the reason of a skip has been printed already. */
export interface RequiredServer {
  readonly available: boolean
  /** Throws when the server is not available. */
  readonly url: string
  readonly version: string
}

/**
 * The shared server of this run, started when the first test file asks.
 *
 *     const postgres = await requireServer('postgres')
 *     describe.skipIf(!postgres.available)('the inbox in Postgres', () => {
 *       beforeAll(async () => { url = await createDatabase(postgres.url) })
 */
export async function requireServer(name: ServerName): Promise<RequiredServer> {
  const answer = await askFor(name)
  if (answer.kind === 'failed') throw new Error(answer.message)
  if (answer.kind === 'running') return { available: true, url: answer.url, version: answer.version }
  return unavailable(skip(answer.reason))
}

/**
 * For tests that start, kill and restart a server of their own.
 *
 *     const postgres = await requireBinaries('postgres')
 *     describe.skipIf(!postgres.available)('a crash of Postgres', () => {
 *       beforeAll(async () => { server = await startPostgres() })
 */
export async function requireBinaries(name: ServerName): Promise<{ readonly available: boolean }> {
  return await requirePrograms(definitions[name])
}

/** For tests that need programs which are no server: a browser. */
export async function requirePrograms(definition: InPackages): Promise<{ readonly available: boolean }> {
  const plan = await settledPlan(definition, process.env, { mustBeOwn: true })
  if (plan.kind === 'skip') skip(plan.reason)
  return { available: plan.kind === 'start' }
}

async function askFor(name: ServerName): Promise<ServerAnswer> {
  const response = await fetch(`${inject('sharedServers')}/${name}`)
  return (await response.json()) as ServerAnswer
}

/** A skip nobody sees reads like a pass. */
function skip(reason: string): string {
  console.warn(`SKIPPED: ${reasonToSkip(reason, process.env)}`)
  return reason
}

function unavailable(reason: string): RequiredServer {
  return {
    available: false,
    get url(): never {
      throw new Error(reason)
    },
    get version(): never {
      throw new Error(reason)
    },
  }
}
