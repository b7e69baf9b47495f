import type pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { type PostgresStore, postgresStore } from '../../src/stores/postgres/index.ts'
import { recordOf } from '../../src/testing/sample-records.ts'
import { hold } from '../../src/testing/waiting.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'
import { newPool, newSchema } from './pg-context.ts'
import { aDay, born, claim, daysFromNow, partsOf, untilWaiting, verdicts } from './retention-steps.ts'

const postgres = await requireServer('postgres')

/** A statement that has to wait for a lock at all fails. */
const waitsForNobody = { lockTimeoutMs: 1 }

describe.skipIf(!postgres.available)('the days of the inbox', () => {
  let url: string
  let admin: pg.Pool
  let schema: string
  let store: PostgresStore<pg.PoolClient>
  let rival: PostgresStore<pg.PoolClient>
  beforeAll(async () => {
    url = await createDatabase(postgres.url)
    admin = newPool({ url })
  })
  afterAll(() => admin.end())

  const open = (max = 4, as?: string) => {
    const address = new URL(url)
    if (as !== undefined) address.username = as
    const pool = newPool({ url: address.href, pool: { max, application_name: schema } })
    onTestFinished(async () => {
      // A test that has failed may have left a transaction open, for which the end of its pool would wait for ever.
      const all = 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1'
      await admin.query(all, [pool.options.application_name])
      void pool.end()
    })
    return postgresStore({ pool, schema, listen: false })
  }
  beforeEach(async () => {
    schema = newSchema()
    store = open()
    rival = open()
    await store.schema.install()
  })

  const old = born('old', daysFromNow(-20))
  const removeOld = (by = rival) =>
    by.retention.remove({ bornBefore: daysFromNow(-11), timelessBefore: undefined, budgetMs: 60_000 })

  test('while a day is detached and dropped behind a slow handler, no claim waits', async () => {
    await claim(store, old, born('today', daysFromNow(0)))
    const slow = await hold(store, (tx) => store.inbox.claim(tx, [old, born('slow', daysFromNow(0))]))
    await store.retention.raise(10 * aDay)
    const removing = removeOld()
    await untilWaiting(admin, 'DETACH')

    const requests = [old, born('today', daysFromNow(0)), born('new', daysFromNow(0)), born('timeless', undefined)]
    const answer = await rival.transaction((tx) => rival.inbox.claim(tx, requests), waitsForNobody)
    expect(verdicts(answer)).toEqual(['too old', 'processed', 'first', 'first'])
    const waiting = await admin.query(
      `SELECT query FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    )
    expect(waiting.rows.map(({ query }) => query)).toEqual([expect.stringContaining('DETACH PARTITION')])

    await slow.commit()
    expect(await removing).toEqual({ removed: 1, more: false })
    expect(await partsOf(admin, schema)).toHaveLength(1)
  })

  test('a day that somebody has detached is attached again, with its records', async () => {
    await claim(store, old)
    const [name] = await partsOf(admin, schema)
    await admin.query(`ALTER TABLE ${schema}.justonce_inbox DETACH PARTITION ${schema}.${name}`)
    const answer = await claim(rival, old, born('as old', daysFromNow(-20)))
    expect(verdicts(answer)).toEqual(['processed', 'first'])
    expect(await partsOf(admin, schema)).toEqual([name])
  })

  test('while a day is attached behind a slow handler, nobody waits, and claims go on before that commits', async () => {
    await claim(store, born('today', daysFromNow(0)))
    const slow = await hold(store, (tx) => store.inbox.claim(tx, [born('slow', daysFromNow(0))]))
    await rival.retention.prepare(2 * aDay)
    // With a single connection a day is attached in the transaction of the claim itself, and that stays open here.
    const single = open(1)
    const attaching = await hold(single, (tx) => single.inbox.claim(tx, [born('later', daysFromNow(9))]))
    const requests = [born('new', daysFromNow(0)), born('soon', daysFromNow(2)), born('timeless', undefined)]
    const answer = await rival.transaction((tx) => rival.inbox.claim(tx, requests), waitsForNobody)
    expect(verdicts(answer)).toEqual(['first', 'first', 'first'])
    await attaching.commit()
    await slow.commit()
    expect(verdicts(await claim(store, born('later', daysFromNow(9))))).toEqual(['processed'])
    expect(await partsOf(admin, schema)).toHaveLength(4)
  })

  test('a process that dies in the middle of a removal leaves something that the next one finishes', async () => {
    await claim(store, old)
    const slow = await hold(store, (tx) => store.inbox.claim(tx, [born('slow', daysFromNow(0))]))
    await store.retention.raise(10 * aDay)
    const dying = removeOld()
    dying.catch(() => {})
    const pid = await untilWaiting(admin, 'DETACH')
    await admin.query('SELECT pg_terminate_backend($1, 10000)', [pid])
    await expect(dying).rejects.toThrow()
    const pending = await admin.query('SELECT inhrelid::regclass FROM pg_inherits WHERE inhdetachpending')
    expect(pending.rows).toHaveLength(1)
    expect(verdicts(await claim(rival, old, born('new', daysFromNow(0))))).toEqual(['too old', 'first'])
    await slow.commit()
    expect(await removeOld()).toEqual({ removed: 1, more: false })
    expect(await partsOf(admin, schema)).toHaveLength(1)
  })

  test('one that died between detaching and dropping, too; and what is not old enough stays', async () => {
    await claim(store, old, born('kept', daysFromNow(-9)))
    const [oldest = ''] = await partsOf(admin, schema)
    await store.retention.raise(10 * aDay)
    await admin.query(`ALTER TABLE ${schema}.justonce_inbox DETACH PARTITION ${schema}.${oldest} CONCURRENTLY`)
    expect(await removeOld()).toEqual({ removed: 1, more: false })
    expect(await partsOf(admin, schema)).toHaveLength(1)
    expect(await recordOf(store, born('kept', undefined))).toMatchObject({ state: 'processed' })
  })

  test('two that remove at once do not hinder each other', async () => {
    await claim(store, ...Array.from({ length: 6 }, (_, day) => born(`m${day}`, daysFromNow(-20 - day))))
    await store.retention.raise(10 * aDay)
    let removed = 0
    for (let more = true; more; ) {
      const steps = await Promise.all([removeOld(store), removeOld(rival)])
      removed += steps.reduce((sum, step) => sum + step.removed, 0)
      more = steps.some((step) => step.more)
    }
    expect(removed).toBeGreaterThanOrEqual(6)
    expect(await partsOf(admin, schema)).toEqual([])
  })

  test('what the horizon does not refuse is not removed, whatever is asked', async () => {
    await claim(store, old)
    expect(await removeOld()).toEqual({ removed: 0, more: false })
    await store.retention.raise(30 * aDay)
    expect(await removeOld()).toEqual({ removed: 0, more: false })
    expect(verdicts(await claim(store, old))).toEqual(['processed'])
  })

  test('a transaction that was opened before the horizon was raised does not claim what has been removed since', async () => {
    await claim(store, old)
    const answer = await store.transaction(async (tx) => {
      await store.inbox.claim(tx, [born('today', daysFromNow(0))])
      await rival.retention.raise(10 * aDay)
      // Marks the day as going, but waits for this very transaction; so the record can already not be found.
      const removing = removeOld()
      removing.catch(() => {})
      const pid = await untilWaiting(admin, 'DETACH')
      const late = await store.inbox.claim(tx, [old])
      await admin.query('SELECT pg_terminate_backend($1, 10000)', [pid])
      await expect(removing).rejects.toThrow()
      return late
    })
    expect(verdicts(answer)).toEqual(['too old'])
    expect(await removeOld()).toEqual({ removed: 1, more: false })
    expect(verdicts(await claim(store, old))).toEqual(['too old'])
  })

  test('claims for days that nobody has prepared make them, also when every connection is at a claim', async () => {
    for (const max of [1, 2, 4]) {
      const crowded = open(max)
      const day = daysFromNow(100 + max)
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, index) => claim(crowded, born(`m${index}`, day), born('z', day))),
      )
      const words = answers.map(verdicts)
      expect(words.map(([own]) => own)).toEqual(words.map(() => 'first'))
      expect(words.filter(([, shared]) => shared === 'first')).toHaveLength(1)
    }
    expect(await partsOf(admin, schema)).toHaveLength(3)
  })

  test('times beyond all calendars have their place too', async () => {
    const times = [-8.64e15, Date.UTC(1969, 0), 0, Date.UTC(2150, 5), 8.64e15].map((ms) => new Date(ms))
    const requests = times.map((time, index) => born(`m${index}`, time))
    expect(verdicts(await claim(store, ...requests))).toEqual(times.map(() => 'first'))
    expect(verdicts(await claim(rival, ...requests))).toEqual(times.map(() => 'processed'))
  })

  test('a day that somebody has removed by hand is a conflict once, and then made again', async () => {
    const today = born('m1', daysFromNow(0))
    await claim(store, today)
    const [only = ''] = await partsOf(admin, schema)
    await admin.query(`DROP TABLE ${schema}.${only}`)
    const error = await claim(store, today).catch((reason: unknown) => reason)
    expect(store.classify(error)).toBe('conflict')
    expect(verdicts(await claim(store, today))).toEqual(['first'])
  })

  test('a role that may not make a day says so, and works where one is there', async () => {
    await admin.query(`
      CREATE ROLE ${schema} LOGIN;
      GRANT USAGE ON SCHEMA ${schema} TO ${schema};
      GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${schema}`)
    const modest = open(2, schema)
    await expect(claim(modest, born('m1', daysFromNow(1)))).rejects.toMatchObject({ code: 'PARTITION_MISSING' })
    await store.retention.prepare(2 * aDay)
    expect(verdicts(await claim(modest, born('m1', daysFromNow(1))))).toEqual(['first'])
    const stored = { ...born('m1', daysFromNow(1)), state: 'expired', result: undefined } as const
    await modest.transaction((tx) => modest.inbox.update(tx, [stored]))
    expect(await recordOf(modest, stored)).toMatchObject({ state: 'expired' })
    await admin.query(`DROP OWNED BY ${schema}; DROP ROLE ${schema}`)
  })

  test('ten that install at once and claim for the same day: one is first, and the day is there once', async () => {
    schema = newSchema()
    const stores = Array.from({ length: 10 }, () => open(2))
    const claims = stores.map(async (each) => {
      await each.schema.install()
      await each.retention.prepare(aDay)
      return verdicts(await claim(each, born('m1', daysFromNow(0))))[0]
    })
    expect((await Promise.all(claims)).toSorted()).toEqual(['first', ...Array(9).fill('processed')])
    expect(await partsOf(admin, schema)).toHaveLength(2)
  })

  test('records without a time are removed past those that somebody holds', async () => {
    const keys = Array.from({ length: 500 }, (_, index) => born(`m${String(index).padStart(3, '0')}`, undefined))
    await claim(store, ...keys)
    const [first] = keys
    const held = await hold(store, (tx) => store.inbox.update(tx, [{ ...first!, state: 'parked' }]))
    const remove = () =>
      rival.retention.remove({ bornBefore: new Date(0), timelessBefore: daysFromNow(1), budgetMs: 60_000 })
    expect(await remove()).toEqual({ removed: 499, more: false })
    await held.commit()
    expect(await remove()).toEqual({ removed: 0, more: false })
    expect(await recordOf(store, first!)).toMatchObject({ state: 'parked' })
  })
})
