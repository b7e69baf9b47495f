import type { Schema } from '../../contracts/index.ts'
import { checkNotNewer, checkVersion } from '../sql/schema-version.ts'
import type { Connections, Runner } from './connection.ts'
import { createMeta, type Migration, migrations, setVersion } from './migrations/index.ts'
import { statement } from './statement.ts'
import type { Tables } from './tables.ts'
import { beginAnew } from './transactions/left-open.ts'
import { textArray } from './values-as-text.ts'

/** Only tests pass other migrations, to check how today's tables get to the next version. */
export function postgresSchema<Tx>(
  connections: Pick<Connections<Tx>, 'checkOut' | 'runAlone'>,
  tables: Tables,
  steps: readonly Migration[] = migrations,
): Schema {
  const wanted = steps.length
  // Reads the catalog itself, because to_regclass() may have cached that the table did not exist.
  const look = statement(
    `SELECT EXISTS (SELECT FROM pg_class JOIN pg_namespace AS home ON home.oid = relnamespace
                    WHERE relname = $1::text AND nspname = ANY (coalesce($2::text[], current_schemas(false)))),
            EXISTS (SELECT FROM pg_namespace WHERE nspname = ANY ($2::text[]))`,
  )
  const lookValues = [tables.metaName, tables.schemaName === undefined ? null : textArray([tables.schemaName])]
  const readVersion = statement(`SELECT version FROM ${tables.meta}`)
  // Inside the transaction, so that it also works behind a pooler. The key is two 32-bit hashes of names, computed by Postgres.
  const lock = statement(`SELECT pg_advisory_xact_lock(hashtext('justonce'), hashtext($1::text))`)

  /** 0 if there are no tables yet. */
  async function version(runner: Pick<Runner, 'run'>): Promise<number> {
    const { rows } = await runner.run(look, lookValues)
    if (rows[0]?.[0] !== 't') return 0
    const found = await runner.run(readVersion, [])
    return Number(found.rows[0]?.[0] ?? 0)
  }

  async function installOn(runner: Runner): Promise<void> {
    await beginAnew(runner)
    await runner.run(lock, [tables.lockName])
    const { rows } = await runner.run(look, lookValues)
    const found = await version(runner)
    checkNotNewer(found, wanted)
    const texts: string[] = []
    if (tables.schema !== undefined && rows[0]?.[1] !== 't') texts.push(`CREATE SCHEMA ${tables.schema};`)
    if (rows[0]?.[0] !== 't') texts.push(createMeta(tables))
    await runner.script([...texts, ...pending(steps, tables, found), 'COMMIT'].join('\n'))
  }

  return {
    async install() {
      // The usual case needs no lock and no privilege to create anything.
      if ((await version({ run: connections.runAlone })) === wanted) return
      const connection = await connections.checkOut({ isPatient: true })
      try {
        await installOn(connection)
        connection.release()
      } catch (error) {
        connection.discard()
        throw error
      }
    },
    async check() {
      checkVersion(await version({ run: connections.runAlone }), wanted, `table ${tables.meta}`)
    },
    print() {
      const schema = tables.schema === undefined ? [] : [`CREATE SCHEMA IF NOT EXISTS ${tables.schema};`]
      return `${[...schema, createMeta(tables), ...pending(steps, tables, 0)].join('\n\n')}\n`
    },
  }
}

function pending(steps: readonly Migration[], tables: Tables, from: number): string[] {
  return steps.slice(from).flatMap((migration, index) => [migration(tables), setVersion(tables, from + index + 1)])
}
