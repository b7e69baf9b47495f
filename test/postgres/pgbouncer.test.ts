import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { storeCases } from '../../src/testing/index.ts'
import { bindStoreCases } from '../conformance/bind-store-cases.ts'
import { atAddress } from '../servers/address.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'
import { openJsContext } from './js-context.ts'
import { newPool, newSchema, openPgContext } from './pg-context.ts'

const postgres = await requireServer('postgres')
const pgbouncer = await requireServer('pgbouncer')

/** What depends on the connection that a statement runs on. */
const cases = storeCases.filter(({ name }) => /^(?:claim|locks|transaction|misuse|abort|parts|loan|within)/.test(name))

/** Prepared statements came in 1.21 and are on since 1.24; earlier ones hand them out to the wrong connections. */
const [major = 0, minor = 0] = pgbouncer.available ? pgbouncer.version.split('.').map(Number) : []
const isOld = major === 1 && minor < 21
const isNew = major > 1 || minor >= 24

describe.skipIf(!postgres.available || !pgbouncer.available)('behind PgBouncer in transaction mode', () => {
  let url: string
  beforeAll(async () => {
    const { hostname, port } = new URL(pgbouncer.url)
    url = atAddress(await createDatabase(postgres.url), hostname, Number(port))
  })

  bindStoreCases('postgres with pg behind PgBouncer', {
    cases,
    open: () => openPgContext({ url, prepare: isNew, listen: false }),
  })
  bindStoreCases('postgres with postgres.js behind PgBouncer', {
    cases,
    open: () => openJsContext({ url, prepare: isNew, listen: false, client: { prepare: isNew } }),
  })

  test.runIf(isOld)('an old one and prepared statements: the error says what to do', async () => {
    const pools = [newPool({ url }), newPool({ url })] as const
    onTestFinished(async () => void (await Promise.all(pools.map((pool) => pool.end()))))
    const schema = newSchema()
    const [store, rival] = [0, 1].map((each) => postgresStore({ pool: pools[each]!, schema, listen: false }))
    const claim = (by = store!) =>
      by.transaction((tx) => by.inbox.claim(tx, [{ handler: 'h', key: 'm', fingerprint: undefined }]))
    await store!.schema.install()
    await claim()
    // PgBouncer gives out the connection that came back last, and there the names of the statements are taken.
    const error = { code: 'OPTION_INVALID', message: expect.stringContaining('prepare: false') }
    await expect(claim(rival)).rejects.toMatchObject(error)
  })
})
