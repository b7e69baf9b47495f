import { systemClock } from '../clock/index.ts'
import type { Store } from '../contracts/index.ts'
import { anyText } from '../encoding/any-text.ts'
import { isJustonceError } from '../errors/index.ts'
import type { App } from './types.ts'

export type Startable = Pick<App<Store, object>, 'start' | 'events'>

/** When to try a shard again whose store was down at first, and with which its app then could not be started. */
const againMs = 1_000

/** Starts the apps of all shards, and goes on with those whose store is down until they are started. */
export class ShardStarter {
  readonly #apps: readonly (readonly [shard: string, app: Startable])[]
  readonly #begun = new Set<Startable>()
  readonly #stopping = new AbortController()

  constructor(apps: readonly (readonly [shard: string, app: Startable])[]) {
    this.#apps = apps
  }

  /** Resolves when each has started, or waits for its store. */
  async start(): Promise<void> {
    const starting = this.#apps
      .filter(([, app]) => !this.#begun.has(app))
      .map(([shard, app]) => this.#start(shard, app))
    const failed = (await Promise.allSettled(starting)).find(({ status }) => status === 'rejected')
    if (failed !== undefined) throw (failed as PromiseRejectedResult).reason
  }

  stop(): void {
    this.#stopping.abort()
  }

  async #start(shard: string, app: Startable): Promise<void> {
    this.#begun.add(app)
    const down = Promise.withResolvers<'down'>()
    const unlisten = app.events.listen(({ kind }) => kind === 'store-down' && down.resolve('down'), {
      replacesLog: false,
    })
    const started = app.start()
    try {
      if ((await Promise.race([started, down.promise])) === 'down') void this.#follow(shard, app, started)
    } catch (error) {
      this.#begun.delete(app)
      throw error
    } finally {
      unlisten()
    }
  }

  /** Nobody waits for it any more: whatever its store says when it is there, it is tried again until somebody has repaired that. */
  async #follow(shard: string, app: Startable, first: Promise<void>): Promise<void> {
    const { signal } = this.#stopping
    let said = ''
    for (let started = first; ; started = app.start()) {
      try {
        return await started
      } catch (error) {
        if (signal.aborted || isJustonceError(error, 'APP_NOT_STARTABLE')) return
        if (said !== anyText(error))
          process.emitWarning(`The app of shard ${shard} cannot be started and is tried again: ${anyText(error)}`)
        said = anyText(error)
      }
      await systemClock.sleep(againMs, signal)
      if (signal.aborted) return
    }
  }
}
