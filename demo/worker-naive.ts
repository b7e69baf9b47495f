import type { Delivery } from '../src/contracts/index.ts'
import { credit } from './bank.ts'
import type { Payment } from './plan.ts'
import { runAsWorker } from './worker-process.ts'

/** What is usually written: run the handler in a transaction, acknowledge when it has committed, leave failures to the broker. */
await runAsWorker(async (bank, transport) => {
  const stopping = new AbortController()

  async function handle(delivery: Delivery): Promise<void> {
    const { body, headers } = delivery.message
    const payment = JSON.parse(new TextDecoder().decode(body)) as Payment
    await bank.store.transaction((tx) => credit(bank, tx, payment, Number(headers.copy)))
    // A worker that is killed here has credited the payment, and the next worker will credit it again.
    await transport.settle([delivery], { kind: 'done' })
  }

  async function consume(): Promise<void> {
    for await (const deliveries of transport.deliveries({ signal: stopping.signal, maxInFlight: 10 })) {
      for (const delivery of deliveries) {
        await handle(delivery).catch(() => transport.settle([delivery], { kind: 'release' }))
      }
    }
  }

  const consuming = consume()
  return {
    async stop() {
      stopping.abort()
      await consuming
    },
  }
})
