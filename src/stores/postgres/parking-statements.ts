import type { StoredParkedMessage } from '../../contracts/index.ts'
import { bytesIn, type Cell, dateIn, textIn } from './cells.ts'
import { type Statement, statement } from './statement.ts'
import type { Tables } from './tables.ts'

export interface ParkingStatements {
  readonly park: Statement
  readonly takeDue: Statement
  readonly take: Statement
  readonly remove: Statement
  readonly change: Statement
  readonly list: Statement
  readonly count: Statement
}

/** In the order in which `parkedIn` reads them. */
const columns = `handler, key, message_id, type, source, state, reason, errors, attempts, step, independent,
  floor(extract(epoch FROM parked_at) * 1000), floor(extract(epoch FROM next_at) * 1000),
  encode(envelope, 'hex'), encode(body, 'hex')`

export function parkingStatements({ parked }: Tables): ParkingStatements {
  const keys = 'unnest($1::text[], $2::text[])'
  const filter = `($1::text IS NULL OR state = $1::text) AND ($2::text IS NULL OR handler = $2::text)`
  return {
    park: statement(
      `INSERT INTO ${parked} (handler, key, message_id, type, source, state, reason, errors, attempts, step,
                              independent, next_at, envelope, body)
       SELECT handler, key, message_id, type, source, state, reason, errors, attempts, step, independent,
              statement_timestamp() + delay_ms * interval '1 millisecond', envelope, body
       FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
                   $9::int[], $10::int[], $11::bool[], $12::float8[], $13::bytea[], $14::bytea[])
            WITH ORDINALITY AS given (handler, key, message_id, type, source, state, reason, errors,
                                      attempts, step, independent, delay_ms, envelope, body, place)
       ORDER BY place
       ON CONFLICT (handler, key) DO NOTHING`,
    ),
    takeDue: statement(
      `SELECT ${columns} FROM ${parked} AS due
       WHERE state = 'waiting' AND next_at <= statement_timestamp() AND handler = ANY ($2::text[])
         AND (independent OR NOT EXISTS (SELECT FROM ${parked} AS earlier
                         WHERE earlier.source = due.source AND earlier.message_id = due.message_id
                           AND earlier.type = due.type AND earlier.step < due.step))
       ORDER BY next_at, id LIMIT $1::int FOR UPDATE OF due SKIP LOCKED`,
    ),
    take: statement(
      `SELECT ${columns} FROM ${parked} WHERE handler = $1::text AND key = $2::text FOR UPDATE SKIP LOCKED`,
    ),
    remove: statement(
      `DELETE FROM ${parked} AS known USING ${keys} AS given (handler, key)
       WHERE known.handler = given.handler AND known.key = given.key`,
    ),
    change: statement(
      `UPDATE ${parked} AS known
       SET state = given.state, attempts = given.attempts, reason = given.reason, errors = given.errors,
           next_at = coalesce(statement_timestamp() + given.delay_ms * interval '1 millisecond', known.next_at)
       FROM unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::text[], $6::text[], $7::float8[])
            AS given (handler, key, state, attempts, reason, errors, delay_ms)
       WHERE known.handler = given.handler AND known.key = given.key`,
    ),
    list: statement(`SELECT ${columns} FROM ${parked} WHERE ${filter} ORDER BY id LIMIT $3::int`),
    count: statement(`SELECT count(*) FROM ${parked} WHERE ${filter}`),
  }
}

export function parkedIn(row: readonly Cell[]): StoredParkedMessage {
  const text = (index: number) => textIn(row[index])
  return {
    handler: text(0),
    key: text(1),
    messageId: text(2),
    type: text(3),
    source: text(4),
    state: row[5] === 'dead' ? 'dead' : 'waiting',
    reason: text(6),
    errors: text(7),
    attempts: Number(text(8)),
    step: Number(text(9)),
    independent: row[10] === 't',
    parkedAt: dateIn(row[11]),
    nextAt: dateIn(row[12]),
    message: { envelope: bytesIn(row[13]), body: bytesIn(row[14]) },
  }
}
