import { JustonceError } from '../../errors/index.ts'
import type { Connections, Runner } from './connection.ts'
import { statement } from './statement.ts'
import type { Tables } from './tables.ts'

// `session_user` stands for the role that a new session has.
const look = statement(
  `WITH path AS (
     SELECT name, place, true AS is_now FROM unnest(current_schemas(false)) WITH ORDINALITY AS now (name, place)
     UNION ALL
     SELECT CASE part WHEN '$user' THEN session_user ELSE part END, place, false
     FROM pg_catalog.pg_settings,
       regexp_matches(reset_val, '"((?:[^"]|"")*)"|([^",[:space:]]+)', 'g') WITH ORDINALITY AS parts (found, place),
       coalesce(replace(found[1], '""', '"'), lower(found[2])) AS part
     WHERE pg_settings.name = 'search_path'),
   found AS (
     SELECT path.* FROM path JOIN pg_catalog.pg_namespace ON nspname = path.name
       JOIN pg_catalog.pg_class ON relnamespace = pg_namespace.oid AND relname = $1::text
     WHERE has_schema_privilege(nspname, 'USAGE'))
   SELECT (SELECT name FROM found WHERE is_now ORDER BY place LIMIT 1), (SELECT name FROM found WHERE NOT is_now ORDER BY place LIMIT 1)`,
)

/**
 * The schema of the tables if no option names it: the first one in the search_path that has them, looked up once. From then
 * on statements name it, whatever anyone does to the search_path of a session. A session that has been led to other tables than a
 * new one would find is refused: other processes would use those, and know nothing of what this one has done.
 */
export class Home<Tx, Made> {
  readonly #connections: Pick<Connections<Tx>, 'runAlone'>
  readonly #tables: Tables
  readonly #make: (schema: string) => Made
  #made: Made | undefined

  constructor(connections: Pick<Connections<Tx>, 'runAlone'>, tables: Tables, make: (schema: string) => Made) {
    this.#connections = connections
    this.#tables = tables
    this.#make = make
  }

  /** What was made for the schema; `undefined` until the schema is found. */
  get known(): Made | undefined {
    return this.#made
  }

  /** `runner` is that of a caller who may hold the only connection. */
  async find(runner: Pick<Runner, 'run'> = { run: this.#connections.runAlone }): Promise<Made> {
    if (this.#made !== undefined) return this.#made
    const { rows } = await runner.run(look, [this.#tables.metaName])
    const [schema, ofNewSessions] = rows[0] ?? []
    if (schema === null || schema === undefined)
      throw new JustonceError('SCHEMA_MISSING', {
        message: `There is no table ${this.#tables.meta} in the search_path.`,
      })
    if (ofNewSessions !== schema && ofNewSessions !== null && ofNewSessions !== undefined)
      throw new JustonceError('STORE_DENIED', {
        message: `By the search_path of this session the tables of the store are in ${schema}, but by that of a new one they are in ${ofNewSessions}: name the schema by the option schema.`,
      })
    this.#made ??= this.#make(schema)
    return this.#made
  }
}
