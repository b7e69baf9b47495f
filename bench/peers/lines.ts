import type { IncomingMessage } from '../../src/contracts/index.ts'
import type { Contestant, Ground, QueueContestant } from './contestant.ts'
import { type Numbered, startWorkerProcess, type WorkerProcess } from './worker-process.ts'

/** What lies between the sender and the worker processes, no matter who owns it. */
export interface Line {
  /** `copy` tells copies of the same messages apart, which may go to different workers. */
  send(messages: readonly IncomingMessage[], copy?: number): Promise<void>
  startWorker(index: number): Promise<void>
  killWorker(index: number): Promise<void>
  /** Messages that are not done. */
  left(): Promise<number>
  /** Messages that a library keeps as failed. */
  givenUp(): Promise<number>
  /** Rejects when a worker ends by itself. */
  failed(): Promise<never>
  close(): Promise<void>
}

export async function openLine(contestant: Contestant, ground: Ground): Promise<Line> {
  return contestant.kind === 'queue' ? await queueLine(contestant, ground) : brokerLine(contestant, ground)
}

/**
 * This process as the broker of consumers: it delivers everything at once, forgets what is done, and delivers the rest
 * again when a worker comes back.
 */
function brokerLine(contestant: Contestant, ground: Ground): Line {
  const { workers, start, kill, failed, close } = processes(contestant, ground)
  const undone = new Map<number, Numbered>()
  const placeOf = new Map<number, number>()
  let last = 0
  const decoder = new TextDecoder()
  return {
    async send(messages, copy = 0) {
      const index = copy % workers.size
      const numbered = messages.map(({ id = '', type = '', body }) => {
        return { number: ++last, id, type, body: decoder.decode(body) }
      })
      for (const message of numbered) {
        undone.set(message.number, message)
        placeOf.set(message.number, index)
      }
      workers.get(index)?.deliver(numbered)
    },
    async startWorker(index) {
      const worker = await start(index, (numbers) => {
        for (const number of numbers) undone.delete(number)
      })
      const again = [...undone.values()].filter(({ number }) => placeOf.get(number) === index)
      if (again.length > 0) worker.deliver(again)
    },
    killWorker: kill,
    left: async () => undone.size,
    givenUp: async () => 0,
    failed,
    close,
  }
}

/** The library's own queue. */
async function queueLine(contestant: QueueContestant, ground: Ground): Promise<Line> {
  const { start, kill, failed, close } = processes(contestant, ground)
  const producer = await contestant.produce(ground)
  return {
    send: (messages) => producer.send(messages),
    async startWorker(index) {
      await start(index, () => {})
    },
    async killWorker(index) {
      await kill(index)
      await producer.afterKill?.()
    },
    left: () => producer.left(),
    givenUp: () => producer.givenUp(),
    failed,
    async close() {
      await close()
      await producer.close()
    },
  }
}

function processes({ name, package: from }: Contestant, ground: Ground) {
  type Started = Awaited<ReturnType<typeof startWorkerProcess>>
  const workers = new Map<number, Started>()
  return {
    workers,
    async start(index: number, onDone: (numbers: readonly number[]) => void): Promise<WorkerProcess> {
      const worker = await startWorkerProcess({ contestant: { name, from }, ground, index }, onDone)
      workers.set(index, worker)
      return worker
    },
    async kill(index: number) {
      await workers.get(index)?.kill()
    },
    failed: () => Promise.race([...workers.values()].map((worker) => worker.failed)),
    async close() {
      for (const worker of workers.values()) await worker.kill()
    },
  }
}
