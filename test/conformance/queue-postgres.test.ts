import pg from 'pg'
import { beforeAll, describe } from 'vitest'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import type { TransportCaseContext } from '../../src/testing/index.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'
import { bindTransportCases } from './bind-transport-cases.ts'
import { queueContext } from './queue-context.ts'

const postgres = await requireServer('postgres')

let connectionString: string

beforeAll(async () => {
  if (!postgres.available) return
  connectionString = await createDatabase(postgres.url)
  const pool = new pg.Pool({ connectionString })
  await postgresStore({ pool }).schema.install()
  await pool.end()
})

async function open(): Promise<TransportCaseContext> {
  const pools: pg.Pool[] = []
  return queueContext({
    async openStore() {
      const pool = new pg.Pool({ connectionString, max: 4 })
      pools.push(pool)
      return postgresStore({ pool })
    },
    async remove() {
      for (const pool of pools) await pool.end()
    },
  })
}

describe.skipIf(!postgres.available)('Postgres', () => {
  bindTransportCases('queue on postgres', { open })
})
