import type { Connections } from './connection.ts'
import { statement } from './statement.ts'
import { setsSomething, settingsIn } from './transactions/unseen-settings.ts'

/** What must be known about the database around our tables. */
export interface Surroundings {
  /** Whether this role may ask when the server was started; every role may, unless that was revoked. */
  readonly knowsStart: boolean
  /**
   * The settings that functions of the database change, found in their sources. No text of a handler shows whether such a
   * function ran, called by another one or as a trigger. `undefined` if there is no such function.
   */
  readonly unseen: readonly string[] | undefined
}

// Functions of extensions restore what they set themselves.
const look = statement(
  `SELECT pg_catalog.has_function_privilege('pg_catalog.pg_postmaster_start_time()', 'EXECUTE'),
     (SELECT pg_catalog.json_agg(source) FROM (
        SELECT coalesce(pg_catalog.pg_get_function_sqlbody(oid), prosrc) AS source FROM pg_catalog.pg_proc
        WHERE pronamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
          AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend
                          WHERE classid = 'pg_catalog.pg_proc'::regclass AND objid = pg_proc.oid AND deptype = 'e')
        OFFSET 0) AS routines WHERE source ~* ${setsSomething}),
     (SELECT pg_catalog.json_agg(pg_catalog.lower(name)) FROM pg_catalog.pg_settings WHERE context <> 'user')`,
)

/** Asks only once. */
export function surroundings<Tx>(connections: Pick<Connections<Tx>, 'runAlone'>): () => Promise<Surroundings> {
  let asked: Promise<Surroundings> | undefined
  const ask = async (): Promise<Surroundings> => {
    try {
      const [start, sources, refused] = (await connections.runAlone(look, [])).rows[0] ?? []
      return { knowsStart: /^t/.test(String(start)), unseen: unseenIn(listIn(sources), new Set(listIn(refused))) }
    } catch (error) {
      asked = undefined
      throw error
    }
  }
  return () => {
    asked ??= ask()
    return asked
  }
}

/** We could not restore what only a superuser may set. */
function unseenIn(sources: readonly string[], refused: ReadonlySet<string>): readonly string[] | undefined {
  if (sources.length === 0) return undefined
  return settingsIn(sources.join(';\n')).filter((name) => !refused.has(name))
}

function listIn(cell: string | null | undefined): readonly string[] {
  return typeof cell === 'string' ? (JSON.parse(cell) as readonly string[]) : []
}
