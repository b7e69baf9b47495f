import { stateLetters } from '../../shared/state-letters.ts'
import { newEpoch } from '../migrations/index.ts'
import { prepared, type Statement, statement } from '../statement.ts'
import type { Tables } from '../tables.ts'
import { isOpenHere } from '../transactions/transaction.ts'
import { timelessBorn } from './born.ts'
import { isSame, isSameBorn } from './record-rows.ts'

export interface ClaimStatements {
  /** For one id without a time. */
  readonly one: Statement
  /** For several ids without a time. */
  readonly many: Statement
  readonly oneBorn: Statement
  /** For several ids, some of which have a time. */
  readonly manyBorn: Statement
}

/** For records of ids without a time, and for those of ids with one. */
export interface TwoWays {
  readonly timeless: Statement
  /** The last values are the times at which the messages were born, then the earliest and the latest of them. */
  readonly born: Statement
}

export interface InboxStatements {
  /** In our own transaction. */
  readonly claim: ClaimStatements
  /** Like `claim`, for when the claim may run although the opening before it has failed. */
  readonly claimIfOpen: ClaimStatements
  /** In a transaction of the caller; it also returns the epoch. */
  readonly claimJoined: ClaimStatements
  readonly look: TwoWays
  readonly release: TwoWays
  readonly update: TwoWays
  /** Finds when those keys were born that have a record with a time. */
  readonly locate: Statement
  readonly epoch: Statement
  /** Rounded up, so that the claim also refuses a message born before it to the millisecond. */
  readonly horizon: Statement
  readonly forget: Statement
}

export function inboxStatements({ inbox, timeless, meta }: Tables): InboxStatements {
  const epoch = `(SELECT epoch FROM ${meta})`
  const record = `state, encode(fingerprint, 'hex'), floor(date_part('epoch', processed_at) * 1000), result`
  // A single row needs no arrays, which cost more than the row itself, and no answer, because it is counted. A message born
  // before the horizon is not even tried, because its partition of the inbox may be gone.
  const isKnowable = `(born = '${timelessBorn}' OR born >= coalesce((SELECT horizon FROM ${meta}), '${timelessBorn}'))`
  // Names the key: without its index, which a restore may have failed to build, every claim would succeed.
  const unlessKnown = 'ON CONFLICT (handler, key, born)'
  const claims = (label: string, { where = 'true', also = '' }): ClaimStatements => {
    const answer = also === '' ? '' : `RETURNING handler, key${also}`
    return {
      one: prepared(
        `${label}_one`,
        `INSERT INTO ${timeless} (handler, key, fingerprint)
         ${where === 'true' ? 'VALUES ($1, $2, $3)' : `SELECT $1::text, $2::text, $3::text::bytea WHERE ${where}`}
         ${unlessKnown} DO NOTHING ${answer}`,
      ),
      many: prepared(
        `${label}_many`,
        `INSERT INTO ${timeless} (handler, key, fingerprint)
         SELECT * FROM unnest($1::text[], $2::text[], $3::bytea[]) WHERE ${where}
         ${unlessKnown} DO NOTHING RETURNING handler, key${also}`,
      ),
      oneBorn: prepared(
        `${label}_one_born`,
        `INSERT INTO ${inbox} (handler, key, fingerprint, born)
         SELECT $1::text, $2::text, $3::text::bytea, born FROM (SELECT $4::timestamptz) AS given (born)
         WHERE ${where} AND ${isKnowable} ${unlessKnown} DO NOTHING ${answer}`,
      ),
      manyBorn: prepared(
        `${label}_many_born`,
        `INSERT INTO ${inbox} (handler, key, fingerprint, born)
         SELECT * FROM unnest($1::text[], $2::text[], $3::bytea[], $4::timestamptz[])
           AS given (handler, key, fingerprint, born)
         WHERE ${where} AND ${isKnowable} ${unlessKnown} DO NOTHING RETURNING handler, key${also}`,
      ),
    }
  }

  // OFFSET 0 keeps the planner from scanning the whole table instead of using the index for each key, which it considers
  // faster while the table is small.
  const look = (columns: string, table: string, given: string, condition: string) =>
    statement(
      `SELECT place, known.* FROM ${given}, LATERAL (
         SELECT ${columns} FROM ${table} AS known WHERE ${condition} OFFSET 0) AS known`,
    )
  const keys = 'unnest($1::text[], $2::text[]) WITH ORDINALITY AS given (handler, key, place)'
  const bornKeys =
    'unnest($1::text[], $2::text[], $3::timestamptz[]) WITH ORDINALITY AS given (handler, key, born, place)'
  const set = `SET state = given.state::"char", result = given.result, processed_at = statement_timestamp()`
  const changed = 'RETURNING known.handler, known.key'

  return {
    claim: claims('claim', {}),
    claimIfOpen: goingAlong(claims('claim_if_open', { where: isOpenHere })),
    claimJoined: claims('claim_joined', { where: '(true)', also: `, ${epoch}` }),
    look: goingAlong({
      timeless: look(record, timeless, keys, isSame),
      born: look(record, inbox, bornKeys, isSameBorn(4)),
    }),
    release: {
      timeless: statement(`DELETE FROM ${timeless} AS known USING ${keys} WHERE ${isSame} ${changed}`),
      born: statement(`DELETE FROM ${inbox} AS known USING ${bornKeys} WHERE ${isSameBorn(4)} ${changed}`),
    },
    update: {
      timeless: statement(
        `UPDATE ${timeless} AS known ${set}
         FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS given (handler, key, state, result)
         WHERE ${isSame} ${changed}`,
      ),
      born: statement(
        `UPDATE ${inbox} AS known ${set}
         FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::timestamptz[])
              AS given (handler, key, state, result, born)
         WHERE ${isSameBorn(6)} ${changed}`,
      ),
    },
    locate: look(
      `floor(extract(epoch FROM born) * 1000)`,
      inbox,
      keys,
      `${isSame} AND known.born > '${timelessBorn}'::timestamptz`,
    ),
    epoch: statement(`SELECT ${epoch}`),
    horizon: statement(`SELECT ceil(extract(epoch FROM horizon) * 1000) FROM ${meta}`),
    forget: statement(
      `WITH gone AS (DELETE FROM ${inbox} AS known USING ${keys} WHERE ${isSame} AND known.state <> '${stateLetters.parked}' RETURNING 1)
       UPDATE ${meta} SET epoch = ${newEpoch} RETURNING (SELECT count(*) FROM gone)`,
    ),
  }
}

function goingAlong<Many extends object>(statements: Many): Many {
  const marked = Object.entries(statements).map(([name, each]) => [name, { ...each, goesAlong: true }])
  return Object.fromEntries(marked) as Many
}
