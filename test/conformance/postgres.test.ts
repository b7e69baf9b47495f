import { beforeAll, describe } from 'vitest'
import { openJsContext } from '../postgres/js-context.ts'
import { openPgContext } from '../postgres/pg-context.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'
import { bindStoreCases } from './bind-store-cases.ts'

const postgres = await requireServer('postgres')

describe.skipIf(!postgres.available)('the Postgres store', () => {
  let url: string
  beforeAll(async () => {
    url = await createDatabase(postgres.url)
  })

  bindStoreCases('postgres with pg', { open: () => openPgContext({ url }) })
  bindStoreCases('postgres with postgres.js', { open: () => openJsContext({ url }) })
})
