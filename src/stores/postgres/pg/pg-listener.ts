import type { PgClientShape, PgPoolShape } from '../client-shapes.ts'
import { explained } from '../errors.ts'
import { reconnectDelay } from '../queue/reconnect-delay.ts'
import { beginAnew } from '../transactions/left-open.ts'
import { PgRunner } from './pg-runner.ts'

/** Keeps one client of the pool listening, and replaces it when it is lost. */
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

  /** Throws if the first connection fails. Later failures are retried here. */
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
    // Set only now: until then the failed query reports a lost connection, and two reports would start two reconnects.
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
        // Retried until the store is closed. Meanwhile the listeners still poll.
      }
    }
  }

  /** Destroys the client instead of returning it to the pool, because its next user would keep listening. */
  #letGo(): void {
    const client = this.#client
    this.#client = undefined
    client?.release(true)
  }
}
