import type { GroupTally, Letters } from '../../contracts/index.ts'
import { conditionOf } from './parked-filter.ts'
import type { Reader } from './reader.ts'
import type { SqliteDatabase } from './sqlite-database.ts'
import { statementsIn } from './transactions.ts'

const largestFirst = `ORDER BY count DESC, last_at DESC, handler, reason, shape`
const groupsWhere = (condition: string): string =>
  `SELECT handler, reason, shape, count(*) AS count, min(parked_at) AS first_at, max(changed_at) AS last_at
   FROM main.justonce_parked WHERE ${condition} GROUP BY handler, reason, shape ${largestFirst} LIMIT ?`
const deleteWhere = (condition: string): string => `DELETE FROM main.justonce_parked WHERE sequence IN
  (SELECT sequence FROM main.justonce_parked WHERE ${condition} ORDER BY sequence LIMIT ?) RETURNING sequence, handler, key`
// The right sides are as the row was, so the body that goes is the one that is kept, unless an earlier one is kept already.
const replaceMessage = `UPDATE main.justonce_parked SET revision = revision + 1,
  original_body = coalesce(original_body, body), envelope = ?, body = ?
  WHERE handler = ? AND key = ? AND state = 'dead'`

interface GroupRow {
  readonly handler: string
  readonly reason: string
  readonly shape: string
  readonly count: number
  readonly first_at: number
  readonly last_at: number
}

interface DiscardedRow {
  readonly sequence: number
  readonly handler: string
  readonly key: string
}

export function sqliteLetters<Database extends SqliteDatabase>(reader: Reader): Letters<Database> {
  return {
    groups: (filter, limit) =>
      reader.read((statements) => {
        const { sql, values } = conditionOf({ ...filter, state: 'dead' })
        return statements.all<GroupRow>(groupsWhere(sql), ...values, limit).map(countedGroup)
      }),
    async discard(tx, filter, limit) {
      const { sql, values } = conditionOf({ ...filter, state: 'dead' })
      const rows = statementsIn(tx).all<DiscardedRow>(deleteWhere(sql), ...values, limit)
      return rows.sort((a, b) => a.sequence - b.sequence).map(({ handler, key }) => ({ handler, key }))
    },
    async replace(tx, { handler, key }, { envelope, body }) {
      return statementsIn(tx).run(replaceMessage, envelope, body, handler, key) === 1
    },
  }
}

function countedGroup({ handler, reason, shape, count, first_at, last_at }: GroupRow): GroupTally {
  return {
    handler,
    reason,
    shape,
    count,
    firstAt: new Date(first_at),
    lastAt: new Date(last_at),
  }
}
