import { beforeAll, describe } from 'vitest'
import { storeCases } from '../../src/testing/index.ts'
import { bindStoreCases } from '../conformance/bind-store-cases.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'
import { openJsContext } from './js-context.ts'
import { openPgContext } from './pg-context.ts'

const postgres = await requireServer('postgres')

/** Where rivals meet. */
const cases = storeCases.filter(({ name }) => /^(?:claim|record|locks|parking|queue)/.test(name))

/** A role or a database may have such a default; the store must not notice. */
const isolation = 'default_transaction_isolation'

describe.skipIf(!postgres.available)('where transactions are serializable by default', () => {
  let url: string
  beforeAll(async () => {
    url = await createDatabase(postgres.url)
  })

  bindStoreCases('postgres with pg, serializable by default', {
    cases,
    open: () => openPgContext({ url, pool: { options: `-c ${isolation}=serializable` } }),
  })
  bindStoreCases('postgres with postgres.js, repeatable read by default', {
    cases,
    open: () => openJsContext({ url, client: { connection: { [isolation]: 'repeatable read' } } }),
  })
})
