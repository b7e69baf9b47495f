import type { Redrive, RedriveProgress, Redrives } from '../../contracts/index.ts'
import { conditionOf } from './parked-filter.ts'
import type { Reader } from './reader.ts'
import type { SqliteDatabase } from './sqlite-database.ts'
import { now, type Statements } from './statements.ts'
import { statementsIn } from './transactions.ts'

const insertRedrive = `INSERT INTO main.justonce_redrives (id, state, selected, canary, per_second, stop_after_failures,
  started_at, turn, requested_by, why) VALUES (?, 'running', 0, ?, ?, ?, ${now}, 0, ?, ?)`
const markWhere = (condition: string): string =>
  `UPDATE main.justonce_parked SET redrive = ?, released = 0 WHERE redrive IS NULL AND ${condition}`
const setSelected = `UPDATE main.justonce_redrives SET selected = ? WHERE id = ?`
// Turns are counted, because times are too coarse to tell who was driven last.
const takeTurn = `UPDATE main.justonce_redrives SET turn = 1 + (SELECT max(turn) FROM main.justonce_redrives)
  WHERE number = (SELECT number FROM main.justonce_redrives WHERE state = 'running' ORDER BY turn, number LIMIT 1)
  RETURNING *, ${now} AS now`
const countProgress = `SELECT count(*) FILTER (WHERE released = 0) AS unreleased,
  count(*) FILTER (WHERE released = 1 AND state = 'waiting' AND attempts = 0) AS untried,
  count(*) FILTER (WHERE released = 1 AND (state = 'dead' OR attempts > 0)) AS failed
  FROM main.justonce_parked WHERE redrive = ?`
const releaseFirst = `UPDATE main.justonce_parked SET revision = revision + 1, state = 'waiting', attempts = 0, released = 1,
  changed_at = ${now}, next_at = ${now} WHERE sequence IN (SELECT sequence FROM main.justonce_parked
    WHERE redrive = ? AND released = 0 ORDER BY sequence LIMIT ?)`
// The revision stays: an attempt that is under way has nothing to do with the mark.
const removeMarks = `UPDATE main.justonce_parked SET redrive = NULL, released = 0 WHERE redrive = ?`
const endRedrive = `UPDATE main.justonce_redrives SET state = ?, ended_at = ${now}, reached_unreleased = ?,
  reached_untried = ?, reached_failed = ? WHERE id = ? AND state = 'running'`
const selectRedrive = `SELECT * FROM main.justonce_redrives WHERE id = ?`
const selectLatest = `SELECT * FROM main.justonce_redrives ORDER BY number DESC LIMIT ?`

interface RedriveRow {
  readonly id: string
  readonly state: Redrive['state']
  readonly selected: number
  readonly canary: number
  readonly per_second: number | null
  readonly stop_after_failures: number
  readonly started_at: number
  readonly ended_at: number | null
  readonly reached_unreleased: number
  readonly reached_untried: number
  readonly reached_failed: number
  readonly requested_by: string
  readonly why: string
}

export function sqliteRedrives<Database extends SqliteDatabase>(reader: Reader): Redrives<Database> {
  return {
    async start(tx, { id, by, why, canary, perSecond, stopAfterFailures }, filter) {
      const statements = statementsIn(tx)
      statements.run(insertRedrive, id, canary, perSecond ?? null, stopAfterFailures, by, why)
      const { sql, values } = conditionOf({ ...filter, state: 'dead' })
      const selected = statements.run(markWhere(sql), id, ...values)
      statements.run(setSelected, selected, id)
      return selected
    },
    async take(tx) {
      const statements = statementsIn(tx)
      const row = statements.get<RedriveRow & { readonly now: number }>(takeTurn)
      if (row === undefined) return undefined
      return { redrive: redriveOf(row), progress: progressOf(statements, row.id), now: new Date(row.now) }
    },
    release: async (tx, id, limit) => statementsIn(tx).run(releaseFirst, id, limit),
    async end(tx, id, state) {
      const statements = statementsIn(tx)
      const { unreleased, untried, failed } = progressOf(statements, id)
      statements.run(endRedrive, state, unreleased, untried, failed, id)
      statements.run(removeMarks, id)
    },
    find: (id) =>
      reader.read((statements) => {
        const row = statements.get<RedriveRow>(selectRedrive, id)
        return row && { redrive: redriveOf(row), progress: progressOf(statements, id) }
      }),
    list: (limit) => reader.read((statements) => statements.all<RedriveRow>(selectLatest, limit).map(redriveOf)),
  }
}

function progressOf(statements: Statements, id: string): RedriveProgress {
  const { unreleased, untried, failed } = statements.get<RedriveProgress>(countProgress, id) as RedriveProgress
  return { unreleased, untried, failed }
}

function redriveOf(row: RedriveRow): Redrive {
  return {
    id: row.id,
    by: row.requested_by,
    why: row.why,
    canary: row.canary,
    perSecond: row.per_second ?? undefined,
    stopAfterFailures: row.stop_after_failures,
    state: row.state,
    selected: row.selected,
    startedAt: new Date(row.started_at),
    endedAt: row.ended_at === null ? undefined : new Date(row.ended_at),
    reached: row.ended_at === null ? undefined : reachedIn(row),
  }
}

function reachedIn(row: RedriveRow): RedriveProgress {
  return { unreleased: row.reached_unreleased, untried: row.reached_untried, failed: row.reached_failed }
}
