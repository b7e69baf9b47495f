import { believedClock, clockPatienceMs } from '../../clock/index.ts'
import type { Retention } from '../../contracts/index.ts'
import type { Reader } from './reader.ts'
import type { SqliteDatabase } from './sqlite-database.ts'
import { now, type Statements } from './statements.ts'
import type { Transactions } from './transactions.ts'

const selectNow = `SELECT ${now} AS now`
const removeSome = (condition: string): string =>
  `DELETE FROM main.justonce_inbox WHERE (handler, key) IN (SELECT handler, key FROM main.justonce_inbox WHERE ${condition} LIMIT ?)`
const removeBorn = `${removeSome('born < ?')} RETURNING born`
const removeTimeless = removeSome(`born IS NULL AND state <> 'parked' AND processed_at < ?`)

/** Few enough that anyone who waits for the write lock hardly notices. */
const chunk = 200

export function sqliteRetention<Database extends SqliteDatabase>(
  transactions: Transactions<Database>,
  reader: Reader,
): Retention {
  return {
    horizon: () => reader.read(horizonIn),
    raise: (keepMs, steadyNow) =>
      transactions.short((statements) => {
        const time = statements.get<{ now: number }>(selectNow)?.now as number
        const known = { seen: timeIn(statements, 'clock_seen'), doubted: timeIn(statements, 'clock_doubted') }
        const patience = { patienceMs: clockPatienceMs(keepMs), steadyNow: steadyNow?.getTime() }
        const { isBelieved, memory } = believedClock(time, known, patience)
        const wanted = Math.max(timeIn(statements, 'horizon') ?? Number.NEGATIVE_INFINITY, Math.floor(time - keepMs))
        if (isBelieved) keepTime(statements, 'horizon', wanted)
        keepTime(statements, 'clock_seen', memory.seen)
        keepTime(statements, 'clock_doubted', memory.doubted)
        const raised = { horizon: horizonIn(statements), now: new Date(time) }
        return isBelieved ? raised : { ...raised, doubt: { seen: new Date(memory.seen ?? time) } }
      }),
    repairHorizon: () =>
      transactions.short((statements) => {
        const before = horizonIn(statements)
        keepTime(statements, 'horizon', timeIn(statements, 'removed_until'))
        return { before, horizon: horizonIn(statements) }
      }),
    prepare: async () => {},
    async remove({ bornBefore, timelessBefore, budgetMs }) {
      const endsAt = performance.now() + budgetMs
      const steps = [(statements: Statements) => removeChunk(statements, bornBefore.getTime())]
      if (timelessBefore !== undefined)
        steps.push((statements) => statements.run(removeTimeless, timelessBefore.getTime(), chunk))
      let removed = 0
      for (const step of steps) {
        for (let gone = chunk; gone === chunk; ) {
          if (performance.now() > endsAt) return { removed, more: true }
          gone = await transactions.short(step)
          removed += gone
        }
      }
      return { removed, more: false }
    },
  }
}

export function horizonIn(statements: Statements): Date | undefined {
  const time = timeIn(statements, 'horizon')
  return time === undefined ? undefined : new Date(time)
}

/** Stored together with the removal, because a repair of the horizon must not lower it below the removed records. */
function removeChunk(statements: Statements, bornBefore: number): number {
  const before = Math.min(bornBefore, timeIn(statements, 'horizon') ?? Number.NEGATIVE_INFINITY)
  if (before === Number.NEGATIVE_INFINITY) return 0
  const gone = statements.all<{ born: number }>(removeBorn, before, chunk)
  const youngest = gone.reduce(
    (latest, { born }) => Math.max(latest, born + 1),
    timeIn(statements, 'removed_until') ?? 0,
  )
  if (gone.length > 0) keepTime(statements, 'removed_until', youngest)
  return gone.length
}

type Time = 'horizon' | 'removed_until' | 'clock_seen' | 'clock_doubted'

function timeIn(statements: Statements, name: Time): number | undefined {
  const row = statements.get<{ time: number | null }>(`SELECT ${name} AS time FROM main.justonce_meta`)
  return row?.time ?? undefined
}

function keepTime(statements: Statements, name: Time, time: number | undefined): void {
  statements.run(`UPDATE main.justonce_meta SET ${name} = ?`, time ?? null)
}
