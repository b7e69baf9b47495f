import { parkedColumns } from '../../sql/rows.ts'
import { dialect } from '../dialect.ts'
import { prepared, type Statement, statement } from '../statement.ts'
import type { Tables } from '../tables.ts'
import { failIfMissing } from '../transactions/swallowed.ts'

export interface ParkingStatements {
  readonly park: Statement
  readonly reserve: Statement
  readonly reserveBehind: Statement
  readonly rebook: Statement
  readonly take: Statement
  readonly remove: Statement
  readonly change: Statement
  /** Fails if one of these is not parked. Another statement than `park`, because that does not see what a rival parked meanwhile. */
  readonly areParked: Statement
  /** Fails if one of these is still parked. */
  readonly areGone: Statement
  readonly lockScopes: Statement
  readonly lookAtScopes: Statement
}

export function parkingStatements({ parked }: Pick<Tables, 'parked'>): ParkingStatements {
  const later = (ms: string) => `statement_timestamp() + ${ms} * interval '1 millisecond'`
  const earlierStep = (row: string) =>
    `EXISTS (SELECT FROM ${parked} AS earlier
             WHERE earlier.source = ${row}.source AND earlier.message_id = ${row}.message_id
               AND earlier.type = ${row}.type AND earlier.step < ${row}.step)`
  const columns = parkedColumns(dialect)
  const bytes = 'octet_length(envelope) + octet_length(body)'
  // Compared as bytes, because not every database encoding can represent every type.
  const isWanted = `(handler = ANY ($3::text[])
    OR (handler, convert_to(type, 'UTF8')) IN (SELECT * FROM unnest($6::text[], $7::bytea[])))`
  const reserved = `SELECT place, sequence
    FROM unnest($1::text[], $2::text[], $3::bigint[]) WITH ORDINALITY AS read (handler, key, revision, place)
    JOIN ${parked} AS known ON known.handler = read.handler AND known.key = read.key
                           AND known.revision = read.revision
    FOR UPDATE OF known SKIP LOCKED`
  // The first row from here on in the order of its index. With `=`, the planner may read the whole table instead: if most
  // rows belong to one key, it expects to find a row of any key soon.
  const first = (answer: string, scope: string, state: string) =>
    `(SELECT ${answer} FROM ${parked} AS first
      WHERE order_key IS NOT NULL
        AND (first.handler, first.order_key, first.state) >= (${scope}.handler, ${scope}.order_key, ${state})
      ORDER BY first.handler, first.order_key, first.state, first.sequence LIMIT 1)`
  const isOf = (scope: string) => `first.handler = ${scope}.handler AND first.order_key = ${scope}.order_key`
  const present = `(SELECT count(*) FROM unnest($1::text[], $2::text[]) AS given (handler, key)
    WHERE EXISTS (SELECT FROM ${parked} AS known WHERE known.handler = given.handler AND known.key = given.key))`
  return {
    park: prepared(
      'park',
      `INSERT INTO ${parked} (handler, key, message_id, type, source, state, reason, errors, shape, attempts, step,
                              independent, order_key, next_at, envelope, body, redrive, released, original_body, business_id)
       SELECT handler, key, message_id, type, source, state, reason, errors, shape, attempts, step, independent,
              order_key, coalesce(to_timestamp(due_at / 1000), ${later('delay_ms')}), envelope, body, redrive, redrive IS NOT NULL, original_body, business_id
       FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
                   $9::text[], $10::int[], $11::int[], $12::bool[], $13::text[], $14::float8[], $15::bytea[],
                   $16::bytea[], $17::text[], $18::bytea[], $19::float8[], $20::text[])
            WITH ORDINALITY AS given (handler, key, message_id, type, source, state, reason, errors, shape,
                                      attempts, step, independent, order_key, delay_ms, envelope, body, redrive,
                                      original_body, due_at, business_id, place)
       ORDER BY place
       ON CONFLICT (handler, key) DO NOTHING`,
    ),
    // Looks at each wanted handler by itself, because many due rows may belong to others: calls of an effect that is held to a rate.
    // A row must be the first waiting one of its key, with no dead letter before it. That is checked only for the first due
    // row of a key, because many rows may wait behind a dead letter. The check for earlier steps is behind an OR, where the
    // planner cannot turn it into a join with the whole table.
    reserve: statement(
      `WITH heads AS MATERIALIZED (
         SELECT min(sequence) AS sequence FROM ${parked}
         WHERE handler = ANY ($3::text[] || $6::text[]) AND state = 'waiting' AND next_at <= statement_timestamp() AND ${isWanted}
           AND order_key IS NOT NULL
         GROUP BY handler, order_key),
       due AS MATERIALIZED (
         SELECT due.* FROM (SELECT DISTINCT name FROM unnest($3::text[] || $6::text[]) AS name) AS wanted, LATERAL (
           SELECT sequence AS due_sequence, next_at AS due_at, ${bytes} AS bytes FROM ${parked} AS due
           WHERE due.handler = wanted.name AND state = 'waiting' AND next_at <= statement_timestamp() AND ${isWanted}
             AND (order_key IS NULL OR sequence IN (SELECT sequence FROM heads))
             AND (order_key IS NULL OR sequence = ${first('first.sequence', 'due', `'waiting'`)})
             AND (order_key IS NULL OR handler = ANY ($4::text[])
                  OR ${first(`${isOf('due')} AND first.state = 'dead' AND first.sequence < due.sequence`, 'due', `'dead'`)} IS NOT TRUE)
             AND (independent OR NOT ${earlierStep('due')})
           ORDER BY next_at, sequence LIMIT $1::int FOR UPDATE OF due SKIP LOCKED) AS due
         ORDER BY due_at, due_sequence LIMIT $1::int),
       fitting AS (
         SELECT due_sequence, due_at, sum(bytes) OVER (ORDER BY due_at, due_sequence) - bytes AS bytes_before FROM due),
       reserved AS (
         UPDATE ${parked} SET revision = revision + 1, next_at = ${later('$2::float8')}
         FROM fitting WHERE sequence = due_sequence AND bytes_before < $5::float8
         RETURNING ${columns}, extract(epoch FROM due_at)),
       checked (failure) AS MATERIALIZED (${failIfMissing(
         '(SELECT count(*) FROM fitting WHERE bytes_before < $5::float8) - (SELECT count(*) FROM reserved)',
         'parked messages were not reserved',
       )})
       SELECT reserved.* FROM checked LEFT JOIN reserved ON failure IS NULL`,
    ),
    // Selects the rows behind, then those that can be taken, then all before the first that cannot.
    reserveBehind: statement(
      `WITH head AS MATERIALIZED (
         SELECT sequence AS head_sequence, handler AS head_handler, order_key AS head_key FROM ${parked}
         WHERE handler = $1::text AND key = $2::text AND revision = $3::bigint AND order_key IS NOT NULL
         FOR UPDATE SKIP LOCKED),
       near AS MATERIALIZED (
         SELECT behind.* FROM head, LATERAL (
           SELECT * FROM ${parked} AS behind
           WHERE order_key IS NOT NULL
             AND (behind.handler, behind.order_key, behind.state, behind.sequence) > (head_handler, head_key, 'waiting', head_sequence)
           ORDER BY behind.handler, behind.order_key, behind.state, behind.sequence LIMIT $4::int) AS behind
         WHERE behind.handler = head_handler AND behind.order_key = head_key AND behind.state = 'waiting'),
       held AS MATERIALIZED (
         SELECT sequence FROM ${parked} AS known WHERE sequence IN (SELECT sequence FROM near) AND state = 'waiting'
         FOR UPDATE SKIP LOCKED),
       judged AS (
         SELECT near.sequence AS judged_sequence, sum(CASE WHEN near.next_at <= statement_timestamp() AND held.sequence IS NOT NULL
                                   AND (near.independent OR NOT ${earlierStep('near')})
                                  THEN 0 ELSE 1 END) OVER (ORDER BY near.sequence) AS hindrances,
                sum(${bytes}) OVER (ORDER BY near.sequence) - (${bytes}) AS bytes_before
         FROM near LEFT JOIN held ON held.sequence = near.sequence)
       UPDATE ${parked} SET revision = revision + 1, next_at = ${later('$5::float8')}
       FROM judged, head
       WHERE sequence = judged_sequence AND hindrances = 0 AND bytes_before < $6::float8
         AND ($7::text::bool OR NOT EXISTS (
               SELECT FROM ${parked} AS dead
               WHERE dead.handler = head_handler AND dead.order_key = head_key AND dead.state = 'dead'
                 AND dead.sequence > head_sequence AND dead.sequence < judged_sequence))
       RETURNING ${columns}`,
    ),
    rebook: statement(
      `WITH held AS MATERIALIZED (${reserved})
       UPDATE ${parked} AS known
       SET begun = ($4::int[])[place], revision = known.revision + 1, next_at = ${later('$5::float8')}
       FROM held WHERE known.sequence = held.sequence
       RETURNING place, known.revision`,
    ),
    take: statement(reserved),
    remove: statement(
      `DELETE FROM ${parked} AS known USING unnest($1::text[], $2::text[]) AS given (handler, key)
       WHERE known.handler = given.handler AND known.key = given.key`,
    ),
    change: statement(
      `WITH changed AS (
         UPDATE ${parked} AS known
         SET state = given.state, attempts = given.attempts, reason = given.reason, errors = given.errors,
             shape = given.shape, next_at = ${later('given.delay_ms')}, step = coalesce(given.step, known.step),
             changed_at = statement_timestamp(), begun = 0, revision = known.revision + 1
         FROM unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::text[], $6::text[], $7::text[], $8::float8[],
                     $9::int[]) AS given (handler, key, state, attempts, reason, errors, shape, delay_ms, step)
         WHERE known.handler = given.handler AND known.key = given.key RETURNING 1)
       ${failIfMissing(`${present} - (SELECT count(*) FROM changed)`, 'parked messages were not changed')}`,
    ),
    areParked: statement(failIfMissing(`cardinality($1::text[]) - ${present}`, 'messages were not parked')),
    areGone: statement(failIfMissing(present, 'parked messages were not removed')),
    // Takes the locks one after the other, in the order of the array. The table's oid makes the locks specific to this
    // table, however its schema was named.
    lockScopes: statement(
      `SELECT pg_advisory_xact_lock(hashtextextended(scope, '${parked}'::regclass::oid::bigint))
       FROM unnest($1::text[]) AS given (scope)`,
    ),
    lookAtScopes: statement(
      `SELECT place
       FROM unnest($1::text[], $2::text[], $3::bool[]) WITH ORDINALITY AS scope (handler, order_key, past_dead, place)
       WHERE ${first(isOf('scope'), 'scope', `CASE WHEN past_dead THEN 'waiting' ELSE 'dead' END`)}`,
    ),
  }
}
