import { justonce, messages, PermanentError } from '../src/index.ts'
import { credit } from './bank.ts'
import type { Payment } from './plan.ts'
import { runAsWorker } from './worker-process.ts'

await runAsWorker(async (bank, transport) => {
  const app = justonce({
    name: 'bank',
    store: bank.store,
    transport,
    messages: messages<{ 'payment.received': Payment }>(),
    // Small batches, so that there are many moments at which a kill can strike.
    batch: { max: 20 },
    schema: 'check',
  })

  app.on('payment.received', 'credit-account', async (message, { tx }) => {
    if (message.body.cents <= 0) throw new PermanentError(`A payment of ${message.body.cents} cents cannot be credited`)
    await credit(bank, tx, message.body, Number(message.headers.copy))
  })

  await app.start()
  return app
})
