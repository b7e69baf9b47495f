import { once } from 'node:events'
import type { Delivery, IncomingMessage, Transport } from '../../src/contracts/index.ts'
import { prefetched } from '../transfers/prefetched.ts'
import { findContestant } from './contestants.ts'
import type { FromWorker, ToWorker, WorkOrder } from './worker-process.ts'

/** A worker process that may be killed; see worker-process.ts. */
const [{ contestant: ref, ground, index }] = (await once(process, 'message')) as [WorkOrder]
const contestant = await findContestant(ref)
const source = prefetched()
const numbers = new WeakMap<IncomingMessage, number>()

if (contestant.kind === 'consumer') await contestant.work(ground, acknowledging(source))
else await contestant.work(ground, index)
process.on('message', ({ deliver }: ToWorker) => {
  const messages = deliver.map(({ number, body, ...rest }) => {
    const message: IncomingMessage = { ...rest, body: new TextEncoder().encode(body), headers: {}, source: 'peers' }
    numbers.set(message, number)
    return message
  })
  void source.deliverAll(messages)
})
say({ kind: 'ready' })

/** What is done is reported to the parent process, which is the broker. */
function acknowledging(transport: Transport): Transport {
  return {
    ...transport,
    async settle(deliveries, settlement) {
      await transport.settle(deliveries, settlement)
      const numberOf = ({ message }: Delivery) => numbers.get(message) as number
      if (settlement.kind === 'done') say({ kind: 'done', numbers: deliveries.map(numberOf) })
    },
  }
}

function say(news: FromWorker): void {
  process.send?.(news)
}
