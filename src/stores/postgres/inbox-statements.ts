import { newEpoch } from './migrations/index.ts'
import { prepared, type Statement, statement } from './statement.ts'
import type { Tables } from './tables.ts'
import { isOpenHere } from './transaction.ts'

export interface ClaimStatements {
  readonly one: Statement
  readonly many: Statement
}

export interface InboxStatements {
  /** In a transaction of ours. */
  readonly claim: ClaimStatements
  /** The same, where the claim may be run although the opening before it has failed. */
  readonly claimIfOpen: ClaimStatements
  /** In a transaction of the caller; it also answers with the epoch. */
  readonly claimJoined: ClaimStatements
  readonly look: Statement
  readonly epoch: Statement
  readonly release: Statement
  readonly update: Statement
  readonly find: Statement
  readonly forget: Statement
}

export function inboxStatements({ inbox, meta }: Tables): InboxStatements {
  const epoch = `(SELECT epoch FROM ${meta})`
  const keys = 'unnest($1::text[], $2::text[])'
  const record = `state, encode(fingerprint, 'hex'), floor(date_part('epoch', processed_at) * 1000), result`

  // One row does without arrays, which cost more than the row itself, and without an answer: it is counted.
  const claims = (label: string, { where = '', also = '' }): ClaimStatements => ({
    one: prepared(
      `${label}_one`,
      `INSERT INTO ${inbox} (handler, key, fingerprint)
       ${where === '' ? 'VALUES ($1, $2, $3)' : `SELECT $1::text, $2::text, $3::text::bytea ${where}`}
       ON CONFLICT DO NOTHING ${also === '' ? '' : `RETURNING handler, key${also}`}`,
    ),
    many: prepared(
      `${label}_many`,
      `INSERT INTO ${inbox} (handler, key, fingerprint)
       SELECT * FROM unnest($1::text[], $2::text[], $3::bytea[]) ${where}
       ON CONFLICT DO NOTHING RETURNING handler, key${also}`,
    ),
  })

  return {
    claim: claims('claim', {}),
    claimIfOpen: claims('claim_if_open', { where: `WHERE ${isOpenHere}` }),
    claimJoined: claims('claim_joined', { where: 'WHERE true', also: `, ${epoch}` }),
    // OFFSET 0 keeps the planner from reading the whole table once instead of the index for each key: as long as the
    // table is not large it takes that to be faster.
    look: statement(
      `SELECT place, known.*
       FROM ${keys} WITH ORDINALITY AS wanted (handler, key, place), LATERAL (
         SELECT ${record} FROM ${inbox} AS known
         WHERE known.handler = wanted.handler AND known.key = wanted.key OFFSET 0) AS known`,
    ),
    epoch: statement(`SELECT ${epoch}`),
    release: statement(
      `DELETE FROM ${inbox} AS known USING ${keys} AS given (handler, key)
       WHERE known.handler = given.handler AND known.key = given.key`,
    ),
    update: statement(
      `UPDATE ${inbox} AS known
       SET state = given.state::"char", result = given.result,
           processed_at = CASE WHEN known.state = 'p' AND given.state <> 'p' THEN statement_timestamp()
                               ELSE known.processed_at END
       FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS given (handler, key, state, result)
       WHERE known.handler = given.handler AND known.key = given.key`,
    ),
    find: statement(`SELECT ${record} FROM ${inbox} WHERE handler = $1::text AND key = $2::text`),
    forget: statement(
      `WITH gone AS (DELETE FROM ${inbox} WHERE handler = $1::text AND key = $2::text AND state <> 'p' RETURNING 1)
       UPDATE ${meta} SET epoch = ${newEpoch} WHERE EXISTS (SELECT FROM gone)`,
    ),
  }
}
