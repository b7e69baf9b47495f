import type { Inbox, InboxRecord, RecordKey, RecordState } from '../../contracts/index.ts'
import { splitChanges } from '../../encoding/split-changes.ts'
import { changeEpoch, epochOfClaim, readEpoch } from './epoch.ts'
import { guardOf } from './lent-database.ts'
import type { Reader } from './reader.ts'
import { horizonIn } from './retention.ts'
import type { SqliteDatabase } from './sqlite-database.ts'
import { bytes, now, type Statements } from './statements.ts'
import { swallowed } from './swallowed.ts'
import { statementsIn } from './transactions.ts'

const insertRecord = `INSERT INTO main.justonce_inbox (handler, key, fingerprint, born, processed_at, state)
  VALUES (?, ?, ?, ?, ${now}, 'processed') ON CONFLICT DO NOTHING`
const selectRecord = `SELECT fingerprint, processed_at, state, result FROM main.justonce_inbox WHERE handler = ? AND key = ?`
const updateRecord = `UPDATE main.justonce_inbox SET state = ?, result = ?, processed_at = ${now} WHERE handler = ? AND key = ?`
const deleteRecord = `DELETE FROM main.justonce_inbox WHERE handler = ? AND key = ?`
const forgetRecord = `${deleteRecord} AND state <> 'parked'`

interface RecordRow {
  readonly fingerprint: Uint8Array | null
  readonly processed_at: number
  readonly state: RecordState
  readonly result: string | null
}

/** A claim already holds the write lock, so no other transaction can be undecided: there is a record or there is none. */
export function sqliteInbox<Database extends SqliteDatabase>(reader: Reader): Inbox<Database> {
  return {
    async claim(tx, requests) {
      const statements = statementsIn(tx)
      const hasBorn = requests.some(({ born }) => born !== undefined)
      const horizon = (hasBorn ? horizonIn(statements) : undefined)?.getTime() ?? Number.NEGATIVE_INFINITY
      const tooOld = new Set<number>()
      const existing = requests.map(({ handler, key, fingerprint, born }, place) => {
        if (born !== undefined && born.getTime() < horizon) {
          const record = findRecord(statements, { handler, key })
          if (record === undefined) tooOld.add(place)
          return record
        }
        const inserted = statements.run(insertRecord, handler, key, fingerprint ?? null, born?.getTime() ?? null)
        if (inserted === 1) return undefined
        const record = findRecord(statements, { handler, key })
        if (record === undefined) throw swallowed('a claim was not made', 'justonce_inbox')
        return record
      })
      const ours = requests.find((_, place) => existing[place] === undefined && !tooOld.has(place))
      // In a transaction of the caller a new epoch is useless: nobody remembers what the caller may still roll back.
      const epoch = guardOf(tx) === undefined ? readEpoch(statements) : epochOfClaim(statements, ours)
      return { epoch, existing, tooOld }
    },
    async update(tx, changes) {
      const statements = statementsIn(tx)
      const { unclaimed, kept } = splitChanges(changes)
      for (const record of unclaimed)
        refuseIfSwallowed(statements, statements.run(deleteRecord, record.handler, record.key), record)
      for (const record of kept) {
        const { handler, key, state, result } = record
        refuseIfSwallowed(statements, statements.run(updateRecord, state, result ?? null, handler, key), record)
      }
    },
    find: (keys) => reader.read((statements) => keys.map((key) => findRecord(statements, key))),
    async forget(tx, keys) {
      const statements = statementsIn(tx)
      changeEpoch(statements)
      return keys.reduce((count, { handler, key }) => count + statements.run(forgetRecord, handler, key), 0)
    },
  }
}

function refuseIfSwallowed(statements: Statements, changed: number, key: RecordKey): void {
  if (changed === 0 && findRecord(statements, key) !== undefined)
    throw swallowed('a record was not changed', 'justonce_inbox')
}

function findRecord(statements: Statements, { handler, key }: RecordKey): InboxRecord | undefined {
  const row = statements.get<RecordRow>(selectRecord, handler, key)
  if (row === undefined) return undefined
  return {
    state: row.state,
    fingerprint: row.fingerprint === null ? undefined : bytes(row.fingerprint),
    processedAt: new Date(row.processed_at),
    result: row.result ?? undefined,
  }
}
