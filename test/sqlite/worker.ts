import { DatabaseSync } from 'node:sqlite'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'

/** Another process on the same file. It does one thing for each message and answers with what came of it. */
export type Order =
  | { readonly kind: 'install' }
  | { readonly kind: 'claim'; readonly keys: readonly string[] }
  | { readonly kind: 'claim and hang'; readonly key: string }
  | { readonly kind: 'lock' }
  | { readonly kind: 'unlock' }
  | { readonly kind: 'send'; readonly queue: string }

const path = process.argv[2] as string
const store = sqliteStore({ path })
const plain = new DatabaseSync(path)

async function carryOut(order: Order): Promise<unknown> {
  switch (order.kind) {
    case 'install':
      return store.schema.install()
    case 'claim': {
      const first: string[] = []
      for (const key of order.keys) if (await claimAndWrite(key)) first.push(key)
      return first
    }
    case 'claim and hang':
      return new Promise((resolve) => {
        void store.transaction(async (tx) => {
          await store.inbox.claim(tx, [{ handler: 'h', key: order.key, fingerprint: undefined }])
          tx.prepare('INSERT INTO effects (name) VALUES (?)').run(order.key)
          resolve('hanging')
          await new Promise(() => {})
        })
      })
    case 'lock':
      return plain.exec('BEGIN IMMEDIATE')
    case 'unlock':
      return plain.exec('ROLLBACK')
    case 'send':
      return store.queue.send(undefined, order.queue, [
        { message: { envelope: new Uint8Array(), body: new Uint8Array() }, key: undefined },
      ])
  }
}

function claimAndWrite(key: string): Promise<boolean> {
  return store.transaction(async (tx) => {
    const { existing } = await store.inbox.claim(tx, [{ handler: 'h', key, fingerprint: undefined }])
    if (existing[0] !== undefined) return false
    // Gives the event loop, and with it any second transaction, a chance to come between.
    await new Promise(setImmediate)
    tx.prepare('INSERT INTO effects (name) VALUES (?)').run(key)
    return true
  })
}

process.on('message', (order: Order) => {
  carryOut(order).then(
    (value) => process.send?.({ value: value ?? null }),
    (error) => process.send?.({ error: String(error) }),
  )
})
process.on('disconnect', () => process.exit())
process.send?.({ value: 'ready' })
