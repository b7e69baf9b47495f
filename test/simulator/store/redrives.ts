import type { Redrive, RedriveProgress, Redrives } from '../../../src/contracts/index.ts'
import type { Session } from '../database/connection.ts'
import type { ServerTransaction } from '../database/server-transaction.ts'
import type { Row } from '../database/sim-database.ts'
import { SimError } from '../database/sim-error.ts'
import { insertIfAbsent, inTransaction, lockIfFree, takeSkippingLocked, update } from '../database/statements.ts'
import { name } from './inbox.ts'
import { fits, isRunning, type Parked, parkedTable, scanParked } from './parked-rows.ts'
import { changed } from './parking.ts'
import type { SimStoreContext } from './sim-store.ts'
import type { SimClient } from './sim-tx.ts'

const table = 'redrives'
type StoredRedrive = Redrive & Row & { readonly place: number; readonly drivenAt: number }

export function simRedrives(context: SimStoreContext): Redrives<SimClient> {
  return {
    async start(client, settings, filter) {
      // One at a time: a second one that had waited for the letters of the first would not see that redrive.
      await client.connection.call(
        'lock-redrives',
        inTransaction((tx, session) => session.database.lock(tx, 'locks-of-redrives', 'start', session.lockTimeoutMs)),
      )
      return await client.connection.call(
        'start-redrive',
        inTransaction(async (tx, session) => {
          const { database } = session
          const isFree = (row: Parked) => row.state === 'dead' && row.redrive === undefined && fits(row, filter)
          const free = scanParked(tx, session).filter(isFree)
          let selected = 0
          for (const row of free) {
            await update(session, tx, parkedTable, name(row), (now) => {
              if (now?.state !== 'dead') return now
              selected++
              return { ...now, redrive: settings.id, isReleased: false }
            })
          }
          const times = {
            startedAt: database.date(),
            endedAt: undefined,
            reached: undefined,
            drivenAt: 0,
            place: database.nextNumber(),
          }
          const row = { ...settings, ...times, state: 'running', selected }
          if (await insertIfAbsent(session, tx, table, settings.id, row)) return selected
          throw new SimError('constraint', `there is a redrive ${settings.id} already`)
        }),
      )
    },
    async take(client) {
      const redrive = await client.connection.call(
        'take-redrive',
        inTransaction(async (tx, session) => {
          const order = (a: Row, b: Row) =>
            (a as StoredRedrive).drivenAt - (b as StoredRedrive).drivenAt ||
            (a as StoredRedrive).place - (b as StoredRedrive).place
          const isNext = (row: Row) => row.state === 'running'
          const [next] = await takeSkippingLocked(session, tx, table, 1, isNext, order)
          if (next === undefined) return undefined
          const driven = { ...next.row, drivenAt: session.database.nextNumber() }
          await update(session, tx, table, next.key, () => driven)
          return next.row as StoredRedrive
        }),
      )
      if (redrive === undefined) return undefined
      return await client.connection.call(
        'count-redrive',
        inTransaction((tx, session) => ({
          redrive: shown(redrive),
          progress: progressOf(tx, session, redrive.id),
          now: session.database.date(),
        })),
      )
    },
    release: (client, id, limit) =>
      client.connection.call(
        'release-letters',
        inTransaction(async (tx, session) => {
          const { database } = session
          const waits = (row: Row) => row.state === 'dead' && row.redrive === id && row.isReleased === false
          const waiting = isRunning(tx, session, id) ? scanParked(tx, session).filter(waits) : []
          let released = 0
          for (const { handler, key } of waiting) {
            if (released >= limit) break
            const row = await lockIfFree(session, tx, parkedTable, name({ handler, key }), waits)
            if (row === undefined) continue
            const times = { nextAt: database.date(), changedAt: database.date() }
            const facts = { ...times, isReleased: true, state: 'waiting', attempts: 0, begun: 0 } as const
            await update(session, tx, parkedTable, name({ handler, key }), () => changed(row as Parked, session, facts))
            released++
          }
          return released
        }),
      ),
    end: (client, id, state) =>
      client.connection.call(
        'end-redrive',
        inTransaction((tx, session) =>
          update(session, tx, table, id, (row) =>
            row?.state === 'running'
              ? { ...row, state, reached: progressOf(tx, session, id), endedAt: session.database.date() }
              : row,
          ),
        ),
      ),
    find: (id) =>
      context.read((client) =>
        client.connection.call(
          'read',
          inTransaction((tx, session) => {
            const row = session.database.read(tx, table, id)
            return row && { redrive: shown(row as StoredRedrive), progress: progressOf(tx, session, id) }
          }),
        ),
      ),
    list: (limit) =>
      context.read((client) =>
        client.connection.call(
          'read',
          inTransaction((tx, session) =>
            session.database
              .scan(tx, table)
              .map(({ row }) => row as StoredRedrive)
              .sort((a, b) => b.place - a.place)
              .slice(0, limit)
              .map(shown),
          ),
        ),
      ),
  }
}

function shown({ drivenAt, place, ...redrive }: StoredRedrive): Redrive {
  return redrive
}

function progressOf(tx: ServerTransaction, session: Session, id: string): RedriveProgress {
  const rows = scanParked(tx, session).filter(({ redrive }) => redrive === id)
  const released = rows.filter(({ isReleased }) => isReleased)
  const untried = released.filter(({ attempts, state }) => attempts === 0 && state === 'waiting').length
  return { unreleased: rows.length - released.length, untried, failed: released.length - untried }
}
