import type { ClaimRequest, Inbox, InboxRecord, RecordKey } from '../../../src/contracts/index.ts'
import { insertIfAbsent, inTransaction, update } from '../database/statements.ts'
import { horizonIn } from './retention.ts'
import type { SimStoreContext } from './sim-store.ts'
import type { SimClient } from './sim-tx.ts'

const table = 'inbox'

export function simInbox(context: SimStoreContext): Inbox<SimClient> {
  return {
    async claim(client, requests) {
      const { taken, horizon, epoch } = await client.connection.call(
        'claim',
        inTransaction(async (tx, session) => {
          const taken: string[] = []
          const horizon = horizonIn(tx, session)
          for (const { handler, key, fingerprint, born } of requests) {
            if (born !== undefined && horizon !== undefined && born < horizon) {
              taken.push(name({ handler, key }))
              continue
            }
            const row = { state: 'processed', fingerprint, born, processedAt: session.database.date() }
            if (!(await insertIfAbsent(session, tx, table, name({ handler, key }), row)))
              taken.push(name({ handler, key }))
          }
          return { taken, horizon, epoch: String(session.database.read(tx, 'meta', 'epoch')?.value ?? 0) }
        }),
      )
      const records = taken.length === 0 ? new Map() : await look(client, taken)
      const isOld = ({ born }: ClaimRequest) => born !== undefined && horizon !== undefined && born < horizon
      const tooOld = new Set(requests.flatMap((each, place) => (isOld(each) && !records.has(name(each)) ? place : [])))
      return { epoch, existing: requests.map((request) => records.get(name(request))), tooOld }
    },
    release: (client, keys) => changeAll(client, 'release', keys, () => undefined),
    update: (client, changes) =>
      changeAll(client, 'update', changes, (row, change) =>
        row === undefined
          ? undefined
          : { ...row, state: change.state, ...(change.result === undefined ? {} : { result: change.result }) },
      ),
    find: (key) => context.read((client) => client.get(table, name(key)) as Promise<InboxRecord | undefined>),
    findMany: (keys) =>
      context.read(async (client) => {
        const records = await look(client, keys.map(name))
        return keys.map((key) => records.get(name(key)))
      }),
    forget: (client, key) =>
      client.connection.call(
        'forget',
        inTransaction(async (tx, session) => {
          let isGone = false
          await update(session, tx, table, name(key), (row) => {
            if (row === undefined || row.state === 'parked') return row
            isGone = true
            return undefined
          })
          if (isGone)
            await update(session, tx, 'meta', 'epoch', (row) => ({ value: ((row?.value as number) ?? 0) + 1 }))
          return isGone
        }),
      ),
  }
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
  change: (row: Readonly<Record<string, unknown>> | undefined, key: K) => Readonly<Record<string, unknown>> | undefined,
): Promise<void> {
  return client.connection.call(
    step,
    inTransaction(async (tx, session) => {
      for (const key of keys) await update(session, tx, table, name(key), (row) => change(row, key))
    }),
  )
}

export function name({ handler, key }: RecordKey): string {
  return `${handler}|${key}`
}
