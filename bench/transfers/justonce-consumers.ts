import type { PoolClient } from 'pg'
import { type App, justonce, messages, type Transport } from '../../src/index.ts'
import type { PostgresStore } from '../../src/stores/postgres/index.ts'
import { applyTransfer, applyTransfers } from './effect.ts'
import { type Transfer, transferType } from './workload.ts'

type TransferMessages = { [transferType]: Transfer }

export interface JustonceOptions {
  readonly store: PostgresStore<PoolClient>
  readonly concurrency?: number
  readonly inFlight?: { readonly messages?: number }
  /** `each`: the same code for each message as everywhere else. `batch`: the handler takes many messages at once. */
  readonly takes: 'each' | 'batch'
}

/** An app with one handler, as the documentation says it is written. */
export function transfersApp(
  transport: Transport,
  { takes, ...options }: JustonceOptions,
): App<PostgresStore<PoolClient>, TransferMessages> {
  const app = justonce({
    ...options,
    transport,
    messages: messages<TransferMessages>(),
  })
  if (takes === 'each') {
    app.on(transferType, 'apply-transfer', (message, { tx }) => applyTransfer(tx, message.id, message.body))
  } else {
    app.onBatch(transferType, 'apply-transfer', (many, { tx }) => applyTransfers(tx, many))
  }
  return app
}
