import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Order } from './worker.ts'

export interface Worker {
  order(order: Order): Promise<unknown>
  /** Ends it without a chance to tidy up. */
  kill(): Promise<void>
}

/** Resolves when the process is up and has the file open. */
export async function startWorker(path: string): Promise<Worker> {
  const child = fork(fileURLToPath(new URL('./worker.ts', import.meta.url)), [path], { execArgv: [] })
  const exited = once(child, 'exit')
  const answer = async (): Promise<unknown> => {
    const [message] = (await Promise.race([once(child, 'message'), exited.then(() => [{ error: 'it exited' }])])) as [
      { value?: unknown; error?: string },
    ]
    if (message.error !== undefined) throw new Error(`The worker says: ${message.error}`)
    return message.value
  }
  await answer()
  return {
    order(order) {
      const answered = answer()
      child.send(order)
      return answered
    },
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
  }
}
