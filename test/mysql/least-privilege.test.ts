import { describe } from 'vitest'
import { bindStoreCases } from '../conformance/bind-store-cases.ts'
import { roleCases } from '../conformance/role-cases.ts'
import { requireServer } from '../servers/require.ts'
import { openAppUserContext } from './app-user.ts'

const mariadb = await requireServer('mariadb')

describe.skipIf(!mariadb.available)('an app whose user may read and write rows, and nothing else', () => {
  bindStoreCases('mysql on MariaDB, least privilege', {
    open: () => openAppUserContext(mariadb.url, 'once_'),
    cases: roleCases,
  })
})
