import { describe } from 'vitest'
import { openMysqlContext } from '../mysql/mysql-context.ts'
import { requireServer } from '../servers/require.ts'
import { bindStoreCases } from './bind-store-cases.ts'

const mariadb = await requireServer('mariadb')

describe.skipIf(!mariadb.available)('the MySQL store', () => {
  bindStoreCases('mysql on MariaDB', { open: () => openMysqlContext({ url: mariadb.url }) })
})
