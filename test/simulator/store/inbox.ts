import type { ClaimRequest, Inbox, InboxRecord, RecordKey } from '../../../src/contracts/index.ts'
import type { Row } from '../database/sim-database.ts'
import { SimError } from '../database/sim-error.ts'
import { insertIfAbsent, inTransaction, update } from '../database/statements.ts'
import { horizonIn } from './retention.ts'
import type { SimStoreContext } from './sim-store.ts'
import type { SimClient } from './sim-tx.ts'

const table = 'inbox'

export function simInbox(context: SimStoreContext): Inbox<SimClient> {
  return {
    async claim(client, requests) {
      const records = new Map<string, InboxRecord>()
      const old = new Set<string>()
      let answer = await insertAll(client, requests)
      const { epoch } = answer
      // What is neither ours nor there, and not too old, was removed in between: it is claimed again.
      for (let open = answer.taken; open.length > 0; open = answer.taken) {
        for (const [key, record] of await look(client, open.map(name))) records.set(key, record)
        const { horizon } = answer
        const missing = open.filter((each) => !records.has(name(each)))
        for (const each of missing) if (isBefore(each.born, horizon)) old.add(name(each))
        const again = missing.filter((each) => !old.has(name(each)))
        if (again.length === 0) break
        answer = await insertAll(client, again)
      }
      const tooOld = new Set(requests.flatMap((each, place) => (old.has(name(each)) ? place : [])))
      return { epoch, existing: requests.map((request) => records.get(name(request))), tooOld }
    },
    update: (client, changes) =>
      changeAll(client, 'update', changes, (row, { state, result, claimed }, processedAt) => {
        if (row === undefined && claimed) throw new SimError('constraint', 'a claim is gone')
        return row === undefined || state === 'unclaimed' ? undefined : { ...row, state, processedAt, result }
      }),
    find: (keys) =>
      context.read(async (client) => {
        const records = await look(client, keys.map(name))
        return keys.map((key) => records.get(name(key)))
      }),
    forget: (client, keys) =>
      client.connection.call(
        'forget',
        inTransaction(async (tx, session) => {
          let count = 0
          for (const key of keys) {
            await update(session, tx, table, name(key), (row) => {
              if (row === undefined || row.state === 'parked') return row
              count++
              return undefined
            })
          }
          await update(session, tx, 'meta', 'epoch', nextEpoch)
          return count
        }),
      ),
  }
}

function nextEpoch(row: Row | undefined): Row {
  return { value: ((row?.value as number) ?? 0) + 1 }
}

interface Inserted {
  /** Those that could not be inserted: somebody has them, or they were born before the horizon. */
  readonly taken: readonly ClaimRequest[]
  readonly horizon: Date | undefined
  readonly epoch: string
}

/** Inserts those that were born after the horizon, as it was when the statement began, whatever it has to wait for. */
function insertAll(client: SimClient, requests: readonly ClaimRequest[]): Promise<Inserted> {
  return client.connection.call(
    'claim',
    inTransaction(async (tx, session) => {
      const taken: ClaimRequest[] = []
      const horizon = horizonIn(tx, session)
      for (const request of requests) {
        const { fingerprint, born } = request
        const row = { state: 'processed', fingerprint, born, processedAt: session.database.date() }
        if (isBefore(born, horizon) || !(await insertIfAbsent(session, tx, table, name(request), row)))
          taken.push(request)
      }
      const row = String(session.database.read(tx, 'meta', 'epoch')?.value ?? 0)
      return { taken, horizon, epoch: `${row}.${session.database.startedAt}` }
    }),
  )
}

function isBefore(born: Date | undefined, horizon: Date | undefined): boolean {
  return born !== undefined && horizon !== undefined && born < horizon
}

/** A second statement, as on a real server: the first cannot see what a rival committed while it waited. */
async function look(client: SimClient, names: readonly string[]): Promise<Map<string, InboxRecord>> {
  return await client.connection.call(
    'look',
    inTransaction((tx, session) => {
      const records = new Map<string, InboxRecord>()
      for (const key of names) {
        const row = session.database.read(tx, table, key)
        if (row !== undefined) records.set(key, row as unknown as InboxRecord)
      }
      return records
    }),
  )
}

function changeAll<K extends RecordKey>(
  client: SimClient,
  step: string,
  keys: readonly K[],
  change: (row: Row | undefined, key: K, now: Date) => Row | undefined,
): Promise<void> {
  return client.write(
    step,
    inTransaction(async (tx, session) => {
      for (const key of keys)
        await update(session, tx, table, name(key), (row) => change(row, key, session.database.date()))
    }),
  )
}

export function name({ handler, key }: RecordKey): string {
  return `${handler}|${key}`
}
