import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestProject } from 'vitest/node'
import { removeProgramsOfThisRun } from '../programs/bundled.ts'
import { localhost } from './address.ts'
import { isServerName } from './definitions.ts'
import { type ServersOnDemand, serversOnDemand } from './on-demand.ts'
import { nameThisRun } from './postgres-databases.ts'

/** What a test file gets to know about a shared server. */
export type ServerAnswer =
  | { readonly kind: 'running'; readonly url: string; readonly version: string }
  | { readonly kind: 'missing'; readonly reason: string }
  | { readonly kind: 'failed'; readonly message: string }

declare module 'vitest' {
  interface ProvidedContext {
    /** Where test files ask for shared servers: GET /<name>. */
    sharedServers: string
  }
}

/** Test files run in processes of their own, so they ask over a local port; require.ts is the other end. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  nameThisRun()
  const servers = serversOnDemand(process.env, (line) => console.log(line))
  const desk = createServer(async ({ url = '/' }, response) => reply(response, await answer(servers, url.slice(1))))
  desk.listen(0, localhost)
  await once(desk, 'listening')
  project.provide('sharedServers', `http://${localhost}:${(desk.address() as AddressInfo).port}`)
  return async () => {
    desk.close()
    desk.closeAllConnections()
    await servers.stopAll()
    removeProgramsOfThisRun()
  }
}

async function answer(servers: ServersOnDemand, name: string): Promise<ServerAnswer> {
  if (!isServerName(name)) return { kind: 'failed', message: `There is no server "${name}" in definitions.ts.` }
  try {
    const acquired = await servers.get(name)
    if (acquired.kind === 'missing') return acquired
    const { url, version } = acquired.server
    return { kind: 'running', url, version }
  } catch (error) {
    return { kind: 'failed', message: `${name} could not be started: ${(error as Error).message}` }
  }
}

function reply(response: ServerResponse, body: ServerAnswer): void {
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(body))
}
