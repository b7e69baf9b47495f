import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { Ground } from './contestant.ts'
import type { ContestantRef } from './contestants.ts'

/** What a worker process gets first. */
export interface WorkOrder {
  readonly contestant: ContestantRef
  readonly ground: Ground
  readonly index: number
}

/** Messages as they travel between the processes. */
export interface Numbered {
  readonly number: number
  readonly id: string
  readonly type: string
  readonly body: string
}

export type ToWorker = { readonly deliver: readonly Numbered[] }

export type FromWorker = { readonly kind: 'ready' } | { readonly kind: 'done'; readonly numbers: readonly number[] }

export interface WorkerProcess {
  deliver(messages: readonly Numbered[]): void
  /** SIGKILL: nothing in the process learns of it. */
  kill(): Promise<void>
}

/** Resolves when the worker works. A process that ends by itself makes `failed` reject. */
export async function startWorkerProcess(
  order: WorkOrder,
  onDone: (numbers: readonly number[]) => void,
): Promise<WorkerProcess & { readonly failed: Promise<never> }> {
  const child = fork(new URL('./worker.ts', import.meta.url))
  let killed = false
  const ended = once(child, 'exit')
  const failed = ended.then(([code, signal]) => {
    if (killed) return new Promise<never>(() => {})
    throw new Error(`A worker process of ${order.contestant.name} ended by itself with ${code ?? signal}.`)
  })
  failed.catch(() => {})
  const ready = new Promise<void>((resolve) => {
    child.on('message', (news: FromWorker) => {
      if (news.kind === 'ready') resolve()
      else onDone(news.numbers)
    })
  })
  child.send(order)
  await Promise.race([ready, failed])
  return {
    failed,
    deliver: (deliver) => void child.send({ deliver } satisfies ToWorker),
    async kill() {
      killed = true
      child.kill('SIGKILL')
      await ended
    },
  }
}
