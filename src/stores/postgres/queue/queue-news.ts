import type { Queue } from '../../../contracts/index.ts'
import type { Connections, Runner } from '../connection.ts'
import { statement } from '../statement.ts'

interface Listener {
  readonly queue: string
  wake(): void
}

export interface QueueNews extends Required<Pick<Queue<unknown>, 'listen'>> {
  /** Inside a transaction, the server delivers it at the commit, and drops it on a rollback. */
  announce(runner: Pick<Runner, 'run'>, queue: string): Promise<void>
  close(): Promise<void>
}

const notify = statement('SELECT pg_notify($1::text, $2::text)')

/** All listeners of a store share one listening connection. */
export function queueNews(connections: Pick<Connections<unknown>, 'listen'>, channel: string): QueueNews {
  const listeners = new Set<Listener>()
  let listening: Promise<() => Promise<void>> | undefined

  function heard(payload: string | undefined): void {
    for (const { queue, wake } of [...listeners]) if (payload === undefined || payload === queue) wake()
  }

  async function stopListening(): Promise<void> {
    const stop = listening
    listening = undefined
    await (await stop)?.()
  }

  return {
    async listen(queue, wake) {
      const listener = { queue, wake }
      listeners.add(listener)
      listening ??= connections.listen(channel, heard)
      try {
        await listening
      } catch (error) {
        listeners.delete(listener)
        listening = undefined
        throw error
      }
      return async () => {
        listeners.delete(listener)
        if (listeners.size === 0) await stopListening()
      }
    },
    async announce(runner, queue) {
      await runner.run(notify, [channel, queue])
    },
    async close() {
      listeners.clear()
      await stopListening().catch(() => {})
    },
  }
}
