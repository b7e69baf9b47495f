import type { Pool } from 'mysql2/promise'
import { beforeAll, describe } from 'vitest'
import { mysqlStore } from '../../src/stores/mysql/index.ts'
import type { TransportCaseContext } from '../../src/testing/index.ts'
import { newPool } from '../mysql/mysql-context.ts'
import { createMysqlDatabase } from '../servers/mysql-databases.ts'
import { requireServer } from '../servers/require.ts'
import { bindTransportCases } from './bind-transport-cases.ts'
import { queueContext } from './queue-context.ts'

const mariadb = await requireServer('mariadb')

let url: string

beforeAll(async () => {
  if (!mariadb.available) return
  url = await createMysqlDatabase(mariadb.url)
  const pool = newPool({ url })
  await mysqlStore({ pool }).schema.install()
  await pool.end()
})

async function open(): Promise<TransportCaseContext> {
  const pools: Pool[] = []
  return queueContext({
    async openStore() {
      const pool = newPool({ url, pool: { connectionLimit: 4 } })
      pools.push(pool)
      return mysqlStore({ pool })
    },
    async remove() {
      for (const pool of pools) await pool.end()
    },
  })
}

describe.skipIf(!mariadb.available)('MariaDB', () => {
  bindTransportCases('queue on mysql', { open })
})
