import { randomBytes } from 'node:crypto'
import type pg from 'pg'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import type { StoreCaseContext } from '../../src/testing/index.ts'
import { openTwoStores } from '../conformance/two-stores.ts'
import { documentedGrants } from '../servers/documented-grants.ts'
import { createDatabase, withClient } from '../servers/postgres-databases.ts'
import { effectTables, newPool, pgEffects, twoSchemas } from './pg-context.ts'
import { aDay } from './retention-steps.ts'

/** A database of an owner who is no superuser, and a role that is given what docs/operations/least-privilege.md says. */
export interface TwoRoles {
  /** By URLs of the same database. */
  readonly superuser: string
  readonly owner: string
  readonly app: string
  readonly appName: string
  remove(): Promise<void>
}

export async function createTwoRoles(adminUrl: string): Promise<TwoRoles> {
  const superuser = await createDatabase(adminUrl)
  const suffix = randomBytes(6).toString('hex')
  const [ownerName, appName] = [`owner_${suffix}`, `app_${suffix}`]
  const database = new URL(superuser).pathname.slice(1)
  await withClient(superuser, async (client) => {
    await client.query(`CREATE ROLE ${ownerName} LOGIN; CREATE ROLE ${appName} LOGIN`)
    await client.query(`ALTER DATABASE ${database} OWNER TO ${ownerName}`)
    // Whatever a role may do by default must not be what makes the test pass.
    await client.query(`REVOKE ALL ON DATABASE ${database} FROM PUBLIC; REVOKE ALL ON SCHEMA public FROM PUBLIC`)
    await client.query(`GRANT CONNECT ON DATABASE ${database} TO ${appName}`)
    await client.query(`GRANT ALL ON SCHEMA public TO ${ownerName}`)
  })
  const as = (user: string): string => {
    const url = new URL(superuser)
    url.username = user
    return url.href
  }
  return {
    superuser,
    owner: as(ownerName),
    app: as(appName),
    appName,
    remove: () =>
      withClient(superuser, async (client) => {
        for (const role of [appName, ownerName]) await client.query(`DROP OWNED BY ${role} CASCADE`)
        await client.query(`ALTER DATABASE ${database} OWNER TO CURRENT_USER; DROP ROLE ${appName}, ${ownerName}`)
      }),
  }
}

export async function grantAsDocumented(owner: pg.Pool, { appName }: TwoRoles, schema: string): Promise<void> {
  for (const text of documentedGrants('Postgres', { app: appName, public: schema })) await owner.query(text)
}

/** What the cases run in: the owner has installed the tables, and both stores have only the rights of the app's role. */
export async function openAppRoleContext(roles: TwoRoles, prefix?: string): Promise<StoreCaseContext<pg.PoolClient>> {
  const pools = [newPool({ url: roles.app }), newPool({ url: roles.app })] as const
  const owner = newPool({ url: roles.owner })
  const { schemas, admin, remove, moveClock, declares } = twoSchemas(roles.superuser)
  const store = postgresStore({ pool: owner, schema: schemas[0], prefix, listen: false })
  await store.schema.install()
  await store.retention.prepare(4 * aDay, new Date(Date.now() - 21 * aDay))
  await grantAsDocumented(owner, roles, schemas[0])
  const { openEmpty: _, ...context } = await openTwoStores({
    openStore: (client, place) => postgresStore({ pool: pools[client], schema: schemas[place], prefix }),
    declares,
    createEffects: () => owner.query(effectTables(schemas[0])),
    effects: pgEffects(schemas[0], { pool: pools[0], admin }),
    ...(prefix === undefined && { moveClock }),
    async remove() {
      for (const each of [...pools, owner]) await each.end()
      await remove()
    },
  })
  return context
}
