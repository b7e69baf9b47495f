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
  /**
   * `each`: the same code for each message as everywhere else. `interleaved`: the same, at the same time. `batch`: the handler
   * takes many messages at once.
   */
  readonly takes: 'each' | 'interleaved' | 'batch'
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
  const name = 'apply-transfer'
  if (takes === 'batch') {
    app.onBatch(transferType, name, (many, { tx }) => applyTransfers(tx, many))
  } else {
    const options = { name, interleave: takes === 'interleaved' }
    app.on(transferType, options, (message, { tx }) => applyTransfer(tx, message.id, message.body))
  }
  return app
}
