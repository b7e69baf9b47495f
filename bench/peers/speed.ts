import type { Measured } from '../rounds.ts'
import { prefetched } from '../transfers/prefetched.ts'
import { isAsExpected } from '../transfers/tables.ts'
import type { Workload } from '../transfers/workload.ts'
import type { Contestant, Ground, Worker } from './contestant.ts'
import { countEntries, until } from './effects.ts'
import type { Grounds } from './grounds.ts'

/** The clock is read so often; every contestant's database is asked alike. */
const patience = { everyMs: 20, atMostMs: 600_000 }

/** From the first message that is sent or handed over until the effects of all are committed. */
export async function measureSpeed(contestant: Contestant, grounds: Grounds, workload: Workload): Promise<Measured> {
  return await grounds.use(async (ground, pool) => {
    await contestant.install(ground)
    const { send, stop } = await begin(contestant, ground)
    const begunAt = performance.now()
    const sending = send(workload.deliveries)
    const isOver = async () => (await countEntries(pool)) >= workload.deliveries.length
    const failed = new Promise<never>((_, reject) => sending.catch(reject))
    const inTime = await Promise.race([until(isOver, patience), failed])
    const ms = performance.now() - begunAt
    if (!inTime) throw new Error(`${contestant.name} was not done after ${patience.atMostMs / 60_000} minutes.`)
    await sending
    await stop()
    return {
      deliveries: workload.deliveries.length,
      ms,
      correct: await isAsExpected(pool, workload, 'each-delivery-once'),
    }
  })
}

type Sender = Worker & { send(messages: Workload['deliveries']): Promise<void> }

async function begin(contestant: Contestant, ground: Ground): Promise<Sender> {
  if (contestant.kind === 'consumer') {
    const source = prefetched()
    const worker = await contestant.work(ground, source)
    return { send: (messages) => source.deliverAll(messages), stop: () => worker.stop() }
  }
  const worker = await contestant.work(ground, 0)
  const producer = await contestant.produce(ground)
  return {
    send: (messages) => producer.send(messages),
    async stop() {
      await worker.stop()
      await producer.close()
    },
  }
}
