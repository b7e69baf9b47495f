import { justonce, messages, type Store, type Transport } from '../../src/index.ts'
import { throwLater } from '../throw-later.ts'
import { type Transfer, transferType } from '../transfers/workload.ts'
import { concurrency } from './ground.ts'

export interface RunningApp {
  stop(): Promise<void>
}

/** An app with one handler, the same for every store but for the effect. */
export async function startTransfers<Tx>(
  store: Store<Tx>,
  transport: Transport,
  apply: (tx: Tx, id: string, transfer: Transfer) => void | Promise<void>,
): Promise<RunningApp> {
  const app = justonce({ store, transport, concurrency, messages: messages<{ [transferType]: Transfer }>() })
  app.on(transferType, 'apply-transfer', (message, { tx }) => apply(tx, message.id, message.body))
  app.events.listen((event) => {
    // A benchmark that waits for a store that is down would wait for ever, and nobody would know why.
    if (event.kind === 'store-down' || event.kind === 'loop-failed') throwLater(event.error)
  })
  await app.start()
  return {
    async stop() {
      await app.stop()
      await store.close()
    },
  }
}
