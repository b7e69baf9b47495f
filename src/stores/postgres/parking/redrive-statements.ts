import { type Statement, statement } from '../statement.ts'
import type { Tables } from '../tables.ts'
import { inMs, isRunning } from './parked-columns.ts'

export interface RedriveStatements {
  readonly lockStart: Statement
  /** `where` begins with the value after the sixth. */
  start(where: string): Statement
  readonly take: Statement
  readonly progress: Statement
  readonly release: Statement
  readonly end: Statement
  readonly find: Statement
  readonly list: Statement
}

/** In the order in which `redriveIn` reads them. */
const columns = `known.id, started_by, why, canary, per_second, stop_after_failures, state, selected,
  ${inMs('started_at')}, ${inMs('ended_at')}, reached_unreleased, reached_untried, reached_failed`

const counts = `count(*) FILTER (WHERE NOT is_released),
  count(*) FILTER (WHERE is_released AND attempts = 0 AND parked.state = 'waiting'),
  count(*) FILTER (WHERE is_released AND (attempts > 0 OR parked.state = 'dead'))`

export function redriveStatements(tables: Tables): RedriveStatements {
  const { parked, redrives } = tables
  return {
    // One at a time: a second one that had waited for the letters of the first would not see that redrive.
    lockStart: statement(
      `SELECT pg_advisory_xact_lock(hashtextextended('start', '${redrives}'::regclass::oid::bigint))`,
    ),
    start: (where) =>
      statement(
        `WITH marked AS (
           UPDATE ${parked} SET redrive = $1::text, is_released = false
           WHERE state = 'dead' AND (redrive IS NULL OR NOT ${isRunning(tables, 'redrive')}) AND ${where} RETURNING 1)
         INSERT INTO ${redrives} (id, started_by, why, canary, per_second, stop_after_failures, selected,
                                  started_at, driven_at)
         SELECT $1::text, $2::text, $3::text, $4::int, $5::float8, $6::int, (SELECT count(*) FROM marked),
                statement_timestamp(), statement_timestamp()
         RETURNING selected`,
      ),
    take: statement(
      `WITH next AS MATERIALIZED (
         SELECT id FROM ${redrives} WHERE state = 'running'
         ORDER BY driven_at, seq LIMIT 1 FOR UPDATE SKIP LOCKED)
       UPDATE ${redrives} AS known SET driven_at = clock_timestamp() FROM next WHERE known.id = next.id
       RETURNING ${columns}`,
    ),
    progress: statement(
      `SELECT ${counts}, ${inMs('statement_timestamp()')} FROM ${parked} AS parked WHERE redrive = $1::text`,
    ),
    release: statement(
      `WITH next AS MATERIALIZED (
         SELECT id FROM ${parked}
         WHERE redrive = $1::text AND NOT is_released AND state = 'dead' AND ${isRunning(tables, '$1::text')}
         ORDER BY id LIMIT $2::int FOR UPDATE SKIP LOCKED)
       UPDATE ${parked} AS known
       SET is_released = true, state = 'waiting', attempts = 0, begun = 0, next_at = statement_timestamp(),
           changed_at = statement_timestamp(), revision = known.revision + 1
       FROM next WHERE known.id = next.id`,
    ),
    end: statement(
      `WITH progress (unreleased, untried, failed) AS MATERIALIZED (
         SELECT ${counts} FROM ${parked} AS parked WHERE redrive = $1::text)
       UPDATE ${redrives} SET state = $2::text, ended_at = statement_timestamp(), reached_unreleased = unreleased,
         reached_untried = untried, reached_failed = failed
       FROM progress WHERE id = $1::text AND state = 'running'`,
    ),
    find: statement(
      `SELECT ${columns}, progress.*
       FROM ${redrives} AS known, LATERAL (
         SELECT ${counts} FROM ${parked} AS parked WHERE redrive = known.id AND known.state = 'running') AS progress
       WHERE known.id = $1::text`,
    ),
    list: statement(`SELECT ${columns} FROM ${redrives} AS known ORDER BY seq DESC LIMIT $1::int`),
  }
}

export const redriveColumns = 13
