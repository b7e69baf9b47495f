import type { PgClientShape, PgPoolShape } from '../client-shapes.ts'
import { explained } from '../errors.ts'
import { reconnectDelay } from '../queue/reconnect-delay.ts'
import { beginAnew } from '../transactions/left-open.ts'
import { PgRunner } from './pg-runner.ts'

/** Keeps one client of the pool listening, and gets another when that one is lost. */
export class PgListener<Client extends PgClientShape> {
  readonly #pool: PgPoolShape<Client>
  readonly #channel: string
  readonly #heard: (payload: string | undefined) => void
  readonly #stopped = new AbortController()
  #client: Client | undefined

  constructor(pool: PgPoolShape<Client>, channel: string, heard: (payload: string | undefined) => void) {
    this.#pool = pool
    this.#channel = channel
    this.#heard = heard
  }

  /** The first time a failure is told; later ones are mended here. */
  async start(): Promise<() => Promise<void>> {
    await this.#connect()
    return async () => {
      this.#stopped.abort()
      this.#letGo()
    }
  }

  async #connect(): Promise<void> {
    let client: Client
    try {
      client = await this.#pool.connect()
    } catch (error) {
      throw explained(error)
    }
    client.on('error', () => this.#lost(client))
    client.on('end', () => this.#lost(client))
    client.on('notification', (message: { channel: string; payload?: string }) => {
      if (client === this.#client && message.channel === this.#channel) this.#heard(message.payload)
    })
    try {
      await beginAnew(new PgRunner(client), `; LISTEN "${this.#channel}"; COMMIT`)
    } catch (error) {
      client.release(true)
      throw error
    }
    // Only now: until then the failed query tells of a lost connection, and twice told would be twice mended.
    this.#client = client
    if (this.#stopped.signal.aborted) this.#letGo()
  }

  #lost(client: Client): void {
    if (client !== this.#client) return
    this.#letGo()
    if (!this.#stopped.signal.aborted) void this.#reconnect()
  }

  async #reconnect(): Promise<void> {
    for (let turn = 0; !this.#stopped.signal.aborted; turn++) {
      await reconnectDelay(turn, this.#stopped.signal)
      try {
        await this.#connect()
        // Something may have been sent while nobody listened.
        return this.#heard(undefined)
      } catch {
        // Tried again until the store is closed; meanwhile whoever listens has its polling.
      }
    }
  }

  /** Destroyed, not given back: the next user of the client would go on listening. */
  #letGo(): void {
    const client = this.#client
    this.#client = undefined
    client?.release(true)
  }
}
