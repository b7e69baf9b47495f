import type { Redrive, RedriveProgress, Redrives } from '../../contracts/index.ts'
import { JustonceError } from '../../errors/index.ts'
import { rowKey } from './inbox.ts'
import type { ParkedRow, RedriveRow } from './memory-database.ts'
import { type MemoryTx, transactionOf } from './memory-tx.ts'
import { fits } from './parked-filter.ts'
import { bySequence, changeRow, committedRows } from './parking.ts'
import type { Transactions } from './transactions.ts'

export function memoryRedrives(transactions: Transactions): Redrives<MemoryTx> {
  return {
    async start(tx, settings, filter) {
      const { database } = transactionOf(tx)
      const { id } = settings
      if (database.redrives.get(id) !== undefined)
        throw new JustonceError('OPTION_INVALID', { message: `There is a redrive '${id}' already.` })
      const letters = database.parked.values().filter(fits({ ...filter, state: 'dead' }))
      const selected = letters.filter((row) => row.redrive === undefined)
      // The revision stays: whoever knows the row knows it with or without the mark.
      for (const row of selected) database.parked.set(rowKey(row), { ...row, redrive: id, released: false })
      database.redrives.set(id, {
        ...settings,
        state: 'running',
        selected: selected.length,
        startedAt: new Date(database.now()),
        endedAt: undefined,
        reached: undefined,
        number: database.nextNumber(),
        turn: 0,
      })
      return selected.length
    },
    async take(tx) {
      const { database } = transactionOf(tx)
      const running = database.redrives.values().filter((row) => row.state === 'running')
      const [row] = running.sort((a, b) => a.turn - b.turn || a.number - b.number)
      if (row === undefined) return undefined
      database.redrives.set(row.id, { ...row, turn: database.nextNumber() })
      const progress = progressOf(database.parked.values(), row.id)
      return { redrive: redriveOf(row), progress, now: new Date(database.now()) }
    },
    async release(tx, id, limit) {
      const { database } = transactionOf(tx)
      const unreleased = database.parked.values().filter((row) => row.redrive === id && !row.released)
      const chosen = unreleased.sort(bySequence).slice(0, limit)
      for (const row of chosen) {
        const now = new Date(database.now())
        changeRow(database, row, { state: 'waiting', attempts: 0, released: true, nextAt: now, changedAt: now })
      }
      return chosen.length
    },
    async end(tx, id, state) {
      const { database } = transactionOf(tx)
      const reached = progressOf(database.parked.values(), id)
      // The revision stays: an attempt that is under way has nothing to do with the mark.
      for (const row of database.parked.values())
        if (row.redrive === id) database.parked.set(rowKey(row), { ...row, redrive: undefined, released: false })
      const row = database.redrives.get(id)
      if (row?.state === 'running')
        database.redrives.set(id, { ...row, state, reached, endedAt: new Date(database.now()) })
    },
    find: (id) =>
      transactions.read((database) => {
        const row = database.redrives.committed(id)
        return row && { redrive: redriveOf(row), progress: progressOf(committedRows(database), id) }
      }),
    list: (limit) =>
      transactions.read(({ redrives }) => {
        const rows = redrives.committedEntries().map(([, row]) => row)
        return rows
          .sort((a, b) => b.number - a.number)
          .slice(0, limit)
          .map(redriveOf)
      }),
  }
}

function progressOf(rows: readonly ParkedRow[], id: string): RedriveProgress {
  const marked = rows.filter((row) => row.redrive === id)
  const released = marked.filter((row) => row.released)
  const untried = released.filter((row) => row.state === 'waiting' && row.attempts === 0).length
  return { unreleased: marked.length - released.length, untried, failed: released.length - untried }
}

function redriveOf({ number, turn, ...row }: RedriveRow): Redrive {
  return { ...row, startedAt: new Date(row.startedAt), endedAt: row.endedAt && new Date(row.endedAt) }
}
