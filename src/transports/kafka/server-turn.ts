import { isTimeout } from './client-errors.ts'
import type { KafkaModule } from './client-shapes.ts'

type GetConnection = (callback: unknown, attempt?: number) => void

/**
 * The client asks the first of its servers for metadata and coordinators, and another one only when it retries, which is our job.
 * A server that accepts connections and never answers would stop everything, so after a timeout it is another one's turn.
 */
export class ServerTurn {
  #turn = 0

  /** Does nothing if the client lacks `kGetBootstrapConnection`. */
  attach(client: object, { kGetBootstrapConnection: name }: KafkaModule): void {
    const connecting = client as Record<symbol, GetConnection>
    const connect = name === undefined ? undefined : connecting[name]
    if (name === undefined || connect === undefined) return
    connecting[name] = (callback, attempt = 0) => connect.call(client, callback, attempt + this.#turn)
  }

  async asking<T>(request: () => Promise<T>): Promise<T> {
    const turn = this.#turn
    try {
      return await request()
    } catch (error) {
      // Of several requests that were waiting for the same server, one moves on.
      if (isTimeout(error) && this.#turn === turn) this.#turn++
      throw error
    }
  }
}
