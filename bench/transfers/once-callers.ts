import type { Pool } from 'pg'
import { once, type Transport } from '../../src/index.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { throwLater } from '../throw-later.ts'
import { applyTransfer } from './effect.ts'
import { decode, type LoopOptions, type PlainConsumer, resultOf, startLoops } from './plain-consumers.ts'

export interface OnceOptions extends LoopOptions {
  readonly pool: Pool
  readonly keepsResult: boolean
}

/** As a webhook route or a job uses it: each caller waits for its own transaction. */
export async function startOnceCallers(
  transport: Transport,
  { pool, keepsResult, ...options }: OnceOptions,
): Promise<PlainConsumer> {
  const store = postgresStore({ pool })
  await store.schema.install()
  const loops = startLoops(transport, options, async (message) => {
    const id = message.id as string
    try {
      await once(store, { handler: 'apply-transfer', key: id }, async (tx) => {
        await applyTransfer(tx, id, decode(message))
        return keepsResult ? resultOf(message) : undefined
      })
    } catch (error) {
      // It has no reason to fail, and to try again would hide that it did.
      throwLater(error)
      throw error
    }
  })
  return {
    async stop() {
      await loops.stop()
      await store.close()
    },
  }
}
