import { setTimeout as delay } from 'node:timers/promises'
import { type Binaries, binariesOf, type RunningServer, type ServerDefinition } from './server.ts'
import { createServerFolder, type ServerFolder } from './server-folder.ts'
import { type Command, runTool, type ServerProcess, startProcess, untilReady } from './server-process.ts'
import { insteadOfRoot } from './system-user.ts'

/** A server that a test has for itself, and may treat badly. */
export interface OwnServer extends RunningServer {
  readonly folder: string
  /** SIGKILL for all its processes at once, as in a power cut. The data folder stays. */
  kill9(): Promise<void>
  /** Starts again on the same port and data, after `kill9` or from a running server. */
  restart(): Promise<void>
  signal(name: NodeJS.Signals): void
}

export type ServerSettings = Readonly<Record<string, string | number>>

export interface OwnServerOptions {
  readonly url: string
  /** Runs it in place of root. */
  readonly user?: string
  /** Ends it in good order, for a restart. */
  readonly endSignal: NodeJS.Signals
  /** Ends it for good. Its data is thrown away then, so by default it is killed. */
  readonly stopSignal?: NodeJS.Signals
  /** What it writes when it cannot start yet on the data of one that was killed, but will in a moment. */
  readonly refusesWith?: string
  /** The command that starts it, and one that is run once before. */
  prepare(folder: ServerFolder, binaries: Binaries): { readonly start: Command; readonly setUp?: Command }
}

/** Nothing of it is left after `stop`, or after the end of this process. */
export async function startOwnServer(definition: ServerDefinition, options: OwnServerOptions): Promise<OwnServer> {
  const { url, user, endSignal, stopSignal, refusesWith } = options
  const { name } = definition
  const binaries = binariesOf(definition)
  const runAs = user === undefined ? {} : insteadOfRoot(user)
  const folder = createServerFolder({ name, runAs, endSignal: stopSignal?.slice('SIG'.length) ?? 'KILL' })
  const askVersion = () => definition.versionAt(url)
  let launch: () => Promise<ServerProcess>
  let server: ServerProcess
  let version: string
  try {
    const { start, setUp } = options.prepare(folder, binaries)
    launch = () => startProcess(folder, start)
    if (setUp !== undefined) await runTool(folder, setUp)
    server = await launch()
    version = await untilReady(server, askVersion)
  } catch (error) {
    await folder.remove()
    throw error
  }

  async function launchOnOldData(): Promise<void> {
    for (let triesLeft = 50; ; triesLeft--) {
      server = await launch()
      try {
        await untilReady(server, askVersion)
        return
      } catch (error) {
        const isPassing =
          refusesWith !== undefined && server.hasEnded() && server.log().slice(-2_000).includes(refusesWith)
        if (!isPassing || triesLeft === 0) throw error
      }
      await delay(100)
    }
  }

  return {
    name,
    version,
    url,
    folder: folder.path,
    kill9: () => server.kill9(),
    async restart() {
      await server.end(endSignal)
      await launchOnOldData()
    },
    signal: (signal) => void process.kill(server.pid, signal),
    async stop() {
      await (stopSignal === undefined ? server.kill9() : server.end(stopSignal))
      await folder.remove()
    },
  }
}
