import { justonce, messages } from '../src/index.ts'
import { queueTransport } from '../src/transports/queue/index.ts'
import { credit, queueName, visibilityMs } from './bank.ts'
import type { Payment } from './plan.ts'
import { runAsWorker } from './worker-process.ts'

await runAsWorker(async (bank) => {
  const { store } = bank
  const app = justonce({
    store,
    transport: queueTransport({ store, queue: queueName, visibilityMs }),
    messages: messages<{ 'payment.received': Payment }>(),
    // Small batches, so that there are many moments at which a kill can strike.
    batch: { max: 20 },
    schema: 'check',
  })

  app.on('payment.received', 'credit-account', async (message, { tx }) => {
    await credit(bank, tx, message.body, Number(message.headers.copy))
  })

  await app.start()
  return app
})
