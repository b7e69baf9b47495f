import pg from 'pg'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { queueTransport } from '../../src/transports/queue/index.ts'
import { publishAll } from '../brokers/publish-all.ts'
import { throwLater } from '../throw-later.ts'
import { transfersApp } from '../transfers/justonce-consumers.ts'
import { type Ground, lockSeconds, type QueueContestant } from './contestant.ts'

export const justonceQueue: QueueContestant = {
  kind: 'queue',
  name: 'justonce: database queue',
  setting: `interleave: true, visibilityMs ${lockSeconds * 1_000}`,
  async install(ground) {
    const { store, close } = open(ground)
    await store.schema.install()
    await close()
  },
  async work(ground) {
    const { store, transport, close } = open(ground)
    const app = transfersApp(transport, { store, takes: 'interleaved' })
    app.events.listen((event) => {
      if (event.kind === 'store-down' || event.kind === 'loop-failed') throwLater(event.error)
    })
    await app.start()
    return {
      async stop() {
        await app.stop()
        await close()
      },
    }
  },
  async produce(ground) {
    const { pool, transport, close } = open(ground)
    const count = async (rows: string): Promise<number> => {
      const result = await pool.query(`SELECT count(*)::int AS messages FROM ${rows}`)
      return result.rows[0].messages
    }
    return {
      send: (deliveries) => publishAll(transport, { deliveries }),
      left: () => count('justonce_queue'),
      givenUp: () => count('justonce_parked'),
      close,
    }
  },
}

function open({ postgresUrl, concurrency }: Ground) {
  const pool = new pg.Pool({ connectionString: postgresUrl, max: concurrency + 1 })
  const store = postgresStore({ pool })
  const transport = queueTransport({ store, visibilityMs: lockSeconds * 1_000 })
  return {
    pool,
    store,
    transport,
    async close() {
      await transport.close()
      await store.close()
      await pool.end()
    },
  }
}
