import type { InboxKey, RecordChange } from '../../../contracts/index.ts'
import { type KeptRecord, splitChanges } from '../../../encoding/split-changes.ts'
import { stateLetters } from '../../shared/state-letters.ts'
import type { Call } from '../connection.ts'
import { prepared, type Statement, statement } from '../statement.ts'
import type { Tables } from '../tables.ts'
import { failIfMissing } from '../transactions/swallowed.ts'
import { textArray } from '../values-as-text.ts'
import { bornRange, bornText, timelessBorn } from './born.ts'
import { isSame, isSameBorn, keyArrays } from './record-rows.ts'

/** Changes records that the same transaction has claimed. The calls fail if one is not there, or stays as it is. */
export function claimedRecords(
  tables: Pick<Tables, 'inbox' | 'timeless'>,
): (changes: readonly RecordChange[]) => Call[] {
  const { release, releaseBorn, keepOne, keepMany, keepManyBorn } = claimedStatements(tables)
  const releaseCalls = (keys: readonly InboxKey[]): Call[] => {
    const timeless = keys.filter(({ born }) => born === undefined)
    const born = keys.filter((key) => key.born !== undefined)
    const borns = born.map((key) => key.born)
    return [
      ...(timeless.length === 0 ? [] : [{ statement: release, values: keyArrays(timeless) }]),
      ...(born.length === 0
        ? []
        : [
            {
              statement: releaseBorn,
              values: [...keyArrays(born), textArray(borns.map(bornText)), ...bornRange(borns)],
            },
          ]),
    ]
  }
  const keepCall = (records: readonly KeptRecord[]): Call => {
    const [only, another] = records
    if (only !== undefined && another === undefined && only.born === undefined) {
      const { handler, key, state, result = null } = only
      return { statement: keepOne, values: [handler, key, stateLetters[state], result] }
    }
    const values = [
      ...keyArrays(records),
      textArray(records.map(({ state }) => stateLetters[state])),
      textArray(records.map(({ result }) => result)),
    ]
    if (records.every(({ born }) => born === undefined)) return { statement: keepMany, values }
    return { statement: keepManyBorn, values: [...values, textArray(records.map(({ born }) => bornText(born)))] }
  }
  return (changes) => {
    const { unclaimed, kept } = splitChanges(changes)
    return [...releaseCalls(unclaimed), ...(kept.length === 0 ? [] : [keepCall(kept)])]
  }
}

function claimedStatements({
  inbox,
  timeless,
}: Pick<Tables, 'inbox' | 'timeless'>): Record<
  'release' | 'releaseBorn' | 'keepOne' | 'keepMany' | 'keepManyBorn',
  Statement
> {
  const releaseFrom = (table: string, given: string, condition: string) =>
    statement(
      `WITH gone AS (DELETE FROM ${table} AS known USING ${given} WHERE ${condition} RETURNING 1)
       ${failIfMissing('cardinality($1::text[]) - (SELECT count(*) FROM gone)', 'claims were not given back')}`,
    )
  // There is only one way to look for a conflict, so the plan is good for a table of any size. That of an UPDATE is not. A
  // record that was not there shows by its time.
  const inserted = `'${timelessBorn}'::timestamptz`
  const keep = (label: string, into: string, given: string, count: string) =>
    prepared(
      label,
      `WITH kept AS (
         INSERT INTO ${into} ${given}
         ON CONFLICT (handler, key, born) DO UPDATE SET state = excluded.state, result = excluded.result, processed_at = statement_timestamp()
         RETURNING processed_at)
       ${failIfMissing(`${count} - (SELECT count(*) FROM kept WHERE processed_at > ${inserted})`, 'records were not changed')}`,
    )
  const columns = 'handler, key, state, result, processed_at'
  const arrays = '$1::text[], $2::text[], $3::text[], $4::text[]'
  const all = 'cardinality($1::text[])'
  return {
    release: releaseFrom(timeless, 'unnest($1::text[], $2::text[]) AS given (handler, key)', isSame),
    releaseBorn: releaseFrom(
      inbox,
      'unnest($1::text[], $2::text[], $3::timestamptz[]) AS given (handler, key, born)',
      isSameBorn(4),
    ),
    keepOne: keep(
      'keep_one',
      `${timeless} (${columns})`,
      `VALUES ($1::text, $2::text, $3::text::"char", $4::text, ${inserted})`,
      '1',
    ),
    keepMany: keep(
      'keep_many',
      `${timeless} (${columns})`,
      `SELECT handler, key, state::"char", result, ${inserted} FROM unnest(${arrays}) AS given (handler, key, state, result)`,
      all,
    ),
    keepManyBorn: keep(
      'keep_many_born',
      `${inbox} (${columns}, born)`,
      `SELECT handler, key, state::"char", result, ${inserted}, born
       FROM unnest(${arrays}, $5::timestamptz[]) AS given (handler, key, state, result, born)`,
      all,
    ),
  }
}
