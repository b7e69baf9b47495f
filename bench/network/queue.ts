import { postgresStore } from '../../src/stores/postgres/index.ts'
import { queueTransport } from '../../src/transports/queue/index.ts'
import { publishAll } from '../brokers/publish-all.ts'
import type { Measured } from '../rounds.ts'
import { transfersApp } from '../transfers/justonce-consumers.ts'
import type { Setup } from '../transfers/measure.ts'
import { emptyTables, isAsExpected } from '../transfers/tables.ts'

/** The database as a broker, from the first message that is sent until the last one is processed. */
export async function measureQueue({ pool, workload, inFlight }: Setup): Promise<Measured> {
  await emptyTables(pool)
  const store = postgresStore({ pool })
  const transport = queueTransport({ store })
  const app = transfersApp(transport, { store, inFlight: { messages: inFlight }, takes: 'each' })
  const allProcessed = Promise.withResolvers<void>()
  let left = workload.messages
  app.events.listen((event) => {
    if (event.kind === 'processed' && --left === 0) allProcessed.resolve()
    else if (event.kind === 'store-down' || event.kind === 'loop-failed') allProcessed.reject(event.error)
  })
  await app.start()
  const begunAt = performance.now()
  await Promise.all([publishAll(transport, workload), allProcessed.promise])
  const ms = performance.now() - begunAt
  await app.stop()
  await store.close()
  const correct = await isAsExpected(pool, workload, 'each-message-once')
  return { deliveries: workload.deliveries.length, ms, correct }
}
