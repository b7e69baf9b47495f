import { type Statement, statement } from '../statement.ts'
import type { Cell } from '../values-as-text.ts'
import { eachOf, isGiven, later, sent } from './queue-parts.ts'

/** In place of a sequence: there are messages that can be taken, and none of them was. */
const untaken = -1

/**
 * $1 queue, $2 limit, $3 how long to hide, $4 bytes, $5 how many messages make the head of the queue (null: all of them),
 * $6 for how long a message can be hidden: one of the head that is hidden for longer has met a clock that was ahead.
 *
 * `due` skips what waits behind a hidden message of the head, so that a long row does not use up the limit. `unbroken` skips what
 * is behind a message that is not in `due`, whatever the reason: it is hidden further back, or another process is taking it.
 *
 * It must cost as much as it takes, however long the queue is, and whatever the planner knows about it. A queue that was just filled
 * has no statistics, and is taken for short: then the planner reads and sorts all of it. So each limit is hidden in a sub-select,
 * which the planner takes for a tenth of the rows, and reads the index in order until there are enough.
 */
export function takeStatement(table: string): Statement {
  return statement(
    `WITH head AS MATERIALIZED (
       SELECT sequence, lane, visible_at > statement_timestamp() AS is_hidden, visible_at > ${later('$6')} AS is_stuck FROM ${table}
       WHERE queue = $1::text ORDER BY sequence LIMIT (SELECT $5::bigint)),
     hidden AS MATERIALIZED (
       SELECT lane, min(sequence) AS sequence FROM head WHERE is_hidden AND lane IS NOT NULL GROUP BY lane),
     ahead AS MATERIALIZED (
       SELECT head.sequence FROM head JOIN hidden ON hidden.lane = head.lane WHERE head.sequence < hidden.sequence),
     stuck AS MATERIALIZED (
       SELECT known.sequence FROM ${eachOf('sequence', 'unnest(ARRAY(SELECT sequence FROM head WHERE is_stuck))')}
         JOIN ${table} AS known ON ${isGiven} FOR UPDATE OF known SKIP LOCKED),
     shortened AS (
       UPDATE ${table} AS known SET visible_at = ${later('$6')}
       FROM ${eachOf('sequence', 'unnest(ARRAY(SELECT sequence FROM stuck))')} WHERE ${isGiven}),
     due AS MATERIALIZED (
       SELECT sequence, lane, octet_length(body) AS size FROM ${table}
       WHERE queue = $1::text AND visible_at <= statement_timestamp()
         AND (lane IS NULL OR lane NOT IN (SELECT lane FROM hidden) OR sequence IN (SELECT sequence FROM ahead))
       ORDER BY sequence LIMIT (SELECT $2::int) FOR UPDATE SKIP LOCKED),
     lanes AS MATERIALIZED (SELECT lane, max(sequence) AS last FROM due WHERE lane IS NOT NULL GROUP BY lane),
     gaps AS MATERIALIZED (
       SELECT lane, (SELECT min(earlier.sequence) FROM ${table} AS earlier
                     WHERE earlier.queue = $1::text AND earlier.lane = lanes.lane AND earlier.sequence < lanes.last
                       AND earlier.sequence NOT IN (SELECT sequence FROM due)) AS sequence
       FROM lanes),
     unbroken AS MATERIALIZED (
       SELECT due.sequence, sum(due.size) OVER (ORDER BY due.sequence) AS total, row_number() OVER (ORDER BY due.sequence) AS place
       FROM due LEFT JOIN gaps ON gaps.lane = due.lane WHERE gaps.sequence IS NULL OR due.sequence < gaps.sequence),
     taken AS (
       UPDATE ${table} AS known SET visible_at = ${later('$3')}, deliveries = known.deliveries + 1
       FROM ${eachOf('sequence', 'unnest(ARRAY(SELECT sequence FROM unbroken WHERE total <= $4::bigint OR place = 1))')}
       WHERE ${isGiven}
       RETURNING known.sequence, ${sent}, known.deliveries, encode(envelope, 'hex'), encode(body, 'hex'))
     SELECT * FROM taken
     UNION ALL SELECT NULL, NULL, NULL, NULL, NULL WHERE NOT EXISTS (SELECT FROM unbroken) AND (SELECT count(*) FROM due) = $2::int
     UNION ALL SELECT ${untaken}, NULL, NULL, NULL, NULL WHERE EXISTS (SELECT FROM unbroken) AND NOT EXISTS (SELECT FROM taken)`,
  )
}

/**
 * Whether messages that cannot be taken have used up the whole limit, because they wait behind one that is hidden beyond the head.
 * Then the others are found with the whole queue for a head, which costs as much as the queue is long.
 */
export function isBlocked(rows: readonly (readonly Cell[])[]): boolean {
  return rows.length === 1 && rows[0]?.[0] === null
}

/** Whether Postgres has left the update undone. The queue must not look empty then. */
export function isUntaken(rows: readonly (readonly Cell[])[]): boolean {
  return rows.length === 1 && Number(rows[0]?.[0] ?? 0) === untaken
}
