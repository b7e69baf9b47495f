import { randomUUID } from 'node:crypto'
import { errorMonitor } from 'node:events'
import pg from 'pg'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'

const postgres = await requireServer('postgres')

/** A query as a tool finds it when it wraps `query` of the client. */
interface Found {
  text?: unknown
  readonly name?: unknown
  readonly submit?: unknown
  callback?: (...answer: unknown[]) => void
  once(event: string | symbol, heard: (error?: unknown) => void): this
}

type Query = (this: pg.Client, ...values: unknown[]) => unknown

let open = 0

/** Datadog rewrites the text where it can, and listens for the end by whatever the query object has. */
const likeDatadog = (query: Query): Query =>
  function (config, ...rest) {
    const found = (typeof config === 'object' ? config : { text: config }) as Found
    const text = Object.getOwnPropertyDescriptor(found, 'text')
    const traced = `/* traced */ ${String(found.text)}`
    if (text?.writable) found.text = traced
    else if (text === undefined || text.configurable) Object.defineProperty(found, 'text', { get: () => traced })
    if (typeof found.submit !== 'function') return query.call(this, found, ...rest)
    open++
    const ended = () => void open--
    const { callback } = found
    if (callback === undefined) found.once(errorMonitor, ended).once('end', ended)
    else
      found.callback = (...answer) => {
        ended()
        callback(...answer)
      }
    return query.call(this, found, ...rest)
  }

/** OpenTelemetry copies what has no name, to add a comment to its text. */
const likeOpenTelemetry = (query: Query): Query =>
  function (config, ...rest) {
    if (typeof config !== 'object') return query.call(this, config, ...rest)
    const { text, name } = config as Found
    const copied = name === undefined ? { ...(config as object), text: `${String(text)} /* traced */` } : config
    return query.call(this, copied, ...rest)
  }

describe.skipIf(!postgres.available)('clients of pg whose queries are traced', () => {
  let url: string
  beforeAll(async () => {
    url = await createDatabase(postgres.url)
  })

  for (const wrap of [likeDatadog, likeOpenTelemetry]) {
    test(`${wrap.name}: statements of the store, and those that interleave, do what they say`, async () => {
      open = 0
      class Traced extends pg.Client {}
      Traced.prototype.query = wrap(pg.Client.prototype.query as Query) as typeof Traced.prototype.query
      const pool = new pg.Pool({ connectionString: url, max: 1, Client: Traced })
      onTestFinished(() => pool.end())
      const prefix = `${wrap.name.toLowerCase()}_`
      const store = postgresStore({ pool, prefix, listen: false })
      await store.schema.install()
      await pool.query(`CREATE TABLE ${prefix}notes (id int PRIMARY KEY)`)
      const insert = async (...ids: readonly number[]): Promise<void> =>
        await store.transaction(async (tx) => {
          await store.inbox.claim(tx, [{ handler: 'tag-note', key: randomUUID(), fingerprint: undefined }])
          const loans = ids.map((id) =>
            store.lend(tx, { borrower: `tag-note-${id}`, interleaved: true, onLateCall() {} }),
          )
          const inserts = loans.map(({ tx }, index) => {
            const text = `INSERT INTO ${prefix}notes VALUES ($1) /* ${index % 3} */`
            return tx.query({ ...(index % 3 > 0 && { name: `insert-${index}` }), text, values: [ids[index]] })
          })
          const sent = await Promise.allSettled(inserts)
          for (const loan of loans) loan.end()
          for (const each of sent) if (each.status === 'rejected') throw each.reason
        })
      await insert(1, 2, 3)
      await insert(4, 5, 6)
      await expect(insert(7, 1, 8)).rejects.toMatchObject({ code: '23505' })
      await insert(9, 10, 11)
      const { rows } = await pool.query(`SELECT id FROM ${prefix}notes ORDER BY id`)
      expect(rows.map(({ id }) => id)).toEqual([1, 2, 3, 4, 5, 6, 9, 10, 11])
      expect(open).toBe(0)
    })
  }
})
