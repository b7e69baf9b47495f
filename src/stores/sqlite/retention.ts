import type { Retention } from '../../contracts/index.ts'
import type { Reader } from './reader.ts'
import type { SqliteDatabase } from './sqlite-database.ts'
import { now, type Statements } from './statements.ts'
import type { Transactions } from './transactions.ts'

const selectHorizon = `SELECT value FROM main.justonce_meta WHERE name = 'horizon'`
const raiseHorizon = `INSERT INTO main.justonce_meta (name, value) VALUES ('horizon', ?)
  ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE CAST(value AS integer) < CAST(excluded.value AS integer)`
const selectNow = `SELECT ${now} AS now`
const pinOne = `INSERT INTO main.justonce_meta (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING`
const pinnedOne = `SELECT value FROM main.justonce_meta WHERE name = ?`
const removeSome = (condition: string): string =>
  `DELETE FROM main.justonce_inbox WHERE (handler, key) IN (SELECT handler, key FROM main.justonce_inbox WHERE ${condition} LIMIT ?)`
const removeBorn = removeSome('born < ?')
const removeTimeless = removeSome(`born IS NULL AND state <> 'parked' AND processed_at < ?`)

/** Few enough that whoever waits for the write lock meanwhile hardly notices. */
const chunk = 200

export function sqliteRetention<Database extends SqliteDatabase>(
  transactions: Transactions<Database>,
  reader: Reader,
): Retention {
  return {
    horizon: () => reader.read(horizonIn),
    raise: (keepMs) =>
      transactions.short((statements) => {
        const time = statements.get<{ now: number }>(selectNow)?.now as number
        statements.run(raiseHorizon, String(Math.floor(time - keepMs)))
        return { horizon: horizonIn(statements) as Date, now: new Date(time) }
      }),
    prepare: async () => {},
    async remove({ bornBefore, timelessBefore, budgetMs }) {
      const endsAt = performance.now() + budgetMs
      const steps = [{ sql: removeBorn, before: bornBefore }]
      if (timelessBefore !== undefined) steps.push({ sql: removeTimeless, before: timelessBefore })
      let removed = 0
      for (const { sql, before } of steps) {
        for (let gone = chunk; gone === chunk; ) {
          if (performance.now() > endsAt) return { removed, more: true }
          gone = await transactions.short((statements) => statements.run(sql, before.getTime(), chunk))
          removed += gone
        }
      }
      return { removed, more: false }
    },
    async pinScheme(handler, scheme) {
      const name = `scheme ${handler}`
      const pinnedIn = (statements: Statements) => statements.get<{ value: string }>(pinnedOne, name)?.value
      // Mostly it is pinned already, and then nobody should have to wait for the write lock to start.
      const pinned = await reader.read(pinnedIn)
      if (pinned !== undefined) return pinned
      return await transactions.short((statements) => {
        statements.run(pinOne, name, scheme)
        return pinnedIn(statements) ?? scheme
      })
    },
  }
}

export function horizonIn(statements: Statements): Date | undefined {
  const row = statements.get<{ value: string }>(selectHorizon)
  return row && new Date(Number(row.value))
}
