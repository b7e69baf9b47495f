import { type ChildProcess, fork } from 'node:child_process'
import type { Pool } from 'pg'
import type { Measured } from '../rounds.ts'
import { type ConsumerName, expectedOf } from './consumers.ts'
import { emptyTables, isAsExpected } from './tables.ts'
import { makeWorkload, type WorkloadOptions } from './workload.ts'

/** What a worker process gets at its start. */
export interface WorkerOrder {
  readonly url: string
  readonly consumer: ConsumerName
  readonly concurrency: number
  readonly workload: WorkloadOptions
  /** This worker gets every `processes`th delivery: a message and its duplicate may reach different workers. */
  readonly index: number
  readonly processes: number
}

export type WorkerNews = { readonly kind: 'ready' } | { readonly kind: 'done'; readonly conflicts: number }

export interface ProcessesSetup {
  readonly pool: Pool
  readonly url: string
  readonly consumer: ConsumerName
  readonly concurrency: number
  readonly workload: WorkloadOptions
  readonly processes: number
}

/** The same messages spread over real processes, from the moment all may begin until the last one is done. */
export async function measureProcesses(setup: ProcessesSetup): Promise<Measured & { readonly conflicts: number }> {
  const { pool, processes, consumer } = setup
  await emptyTables(pool)
  const workers = Array.from({ length: processes }, (_, index) => startWorker(setup, index))
  try {
    await Promise.all(workers.map((worker) => news(worker, 'ready')))
    await emptyTables(pool)
    const done = workers.map((worker) => news(worker, 'done'))
    const begunAt = performance.now()
    for (const worker of workers) worker.send('go')
    const reports = await Promise.all(done)
    const ms = performance.now() - begunAt
    const workload = makeWorkload(setup.workload)
    return {
      deliveries: workload.deliveries.length,
      ms,
      correct: await isAsExpected(pool, workload, expectedOf(consumer)),
      conflicts: reports.reduce((sum, { conflicts }) => sum + conflicts, 0),
    }
  } finally {
    for (const worker of workers) worker.kill()
  }
}

function startWorker({ pool: _, ...setup }: ProcessesSetup, index: number): ChildProcess {
  const worker = fork(new URL('./worker.ts', import.meta.url))
  worker.send({ ...setup, index } satisfies WorkerOrder)
  return worker
}

function news<Kind extends WorkerNews['kind']>(worker: ChildProcess, kind: Kind) {
  return new Promise<WorkerNews & { kind: Kind }>((resolve, reject) => {
    worker.on('message', (message) => {
      if ((message as WorkerNews).kind === kind) resolve(message as WorkerNews & { kind: Kind })
    })
    worker.once('exit', (code) => reject(new Error(`A worker process ended with ${code} before it was ${kind}.`)))
  })
}
