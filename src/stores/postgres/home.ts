import { JustonceError } from '../../errors/index.ts'
import type { Connections, Runner } from './connection.ts'
import { statement } from './statement.ts'
import type { Tables } from './tables.ts'

const look = statement(
  `SELECT path.name FROM unnest(current_schemas(false)) WITH ORDINALITY AS path (name, place)
     JOIN pg_catalog.pg_namespace ON nspname = path.name
     JOIN pg_catalog.pg_class ON relnamespace = pg_namespace.oid AND relname = $1::text
   ORDER BY path.place LIMIT 1`,
)

/**
 * The schema of the tables if no option names it: the first one in the search_path that has them, looked up once. From then
 * on statements name it, whatever anyone does to the search_path of a session.
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
    const schema = rows[0]?.[0]
    if (schema === null || schema === undefined)
      throw new JustonceError('SCHEMA_MISSING', {
        message: `There is no table ${this.#tables.meta} in the search_path.`,
      })
    this.#made ??= this.#make(schema)
    return this.#made
  }
}
