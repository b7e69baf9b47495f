import type { Pool } from 'pg'
import { fixed, type IncomingMessage, justonce, messages } from '../../src/index.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { throwLater } from '../throw-later.ts'
import { applyTransfer } from '../transfers/effect.ts'
import { type Prefetched, prefetched } from '../transfers/prefetched.ts'
import { type Transfer, transferType } from '../transfers/workload.ts'

export const handlerName = 'apply-transfer'

export interface AppSetup {
  readonly pool: Pool
  readonly concurrency: number
  readonly pollMs: number
  /** Ids of messages whose first attempt fails. */
  readonly failing?: ReadonlySet<string>
}

export type RunningApp = Awaited<ReturnType<typeof startApp>>

/** The transfers app with a handler that fails, and a way to know when so many messages have been processed. */
export async function startApp({ pool, concurrency, pollMs, failing }: AppSetup) {
  const source: Prefetched = prefetched()
  const app = justonce({
    store: postgresStore({ pool }),
    transport: source,
    concurrency,
    pollMs,
    messages: messages<{ [transferType]: Transfer }>(),
  })
  // A batch that is undone runs its handlers again: the attempt has failed only when its message is parked.
  const toFail = new Set(failing)
  app.on(transferType, { name: handlerName, retry: { backoff: fixed(10) } }, async (message, { tx }) => {
    await applyTransfer(tx, message.id, message.body)
    if (toFail.has(message.id)) throw new Error('The ledger is not to be had just now.')
  })

  const processedAt: number[] = []
  const waiting: { readonly count: number; readonly resolve: () => void }[] = []
  const seen = { parked: 0, undone: 0 }
  app.events.listen((event) => {
    if (event.kind === 'processed') {
      processedAt.push(performance.now())
      if (processedAt.length === waiting[0]?.count) waiting.shift()?.resolve()
    } else if (event.kind === 'parked') {
      seen.parked++
      toFail.delete(event.key)
    } else if (event.kind === 'rolled-back') seen.undone++
    // A benchmark that waits for a store that is down would wait for ever, and nobody would know why.
    else if (event.kind === 'store-down' || event.kind === 'loop-failed') throwLater(event.error)
  })
  await app.start()
  return {
    letters: app.operations.letters,
    seen,
    processedAt,
    deliver: (given: readonly IncomingMessage[]) => source.deliverAll(given),
    /** Resolves when so many have been processed since the start. To be asked in ascending order. */
    untilProcessed: (count: number) =>
      new Promise<void>((resolve) => {
        if (processedAt.length >= count) resolve()
        else waiting.push({ count, resolve })
      }),
    stop: () => app.stop(),
  }
}
