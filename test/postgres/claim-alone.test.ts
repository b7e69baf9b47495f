import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inboxStatements } from '../../src/stores/postgres/inbox/inbox-statements.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { tableNames } from '../../src/stores/postgres/tables.ts'
import { textArray } from '../../src/stores/postgres/values-as-text.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'
import { newPool } from './pg-context.ts'

const postgres = await requireServer('postgres')

/** A client that does not skip what follows a failure sends the claim right behind the opening all the same. */
describe.skipIf(!postgres.available)('a claim whose opening has failed', () => {
  let pool: pg.Pool
  beforeAll(async () => {
    pool = newPool({ url: await createDatabase(postgres.url), pool: { max: 1 } })
    await postgresStore({ pool }).schema.install()
  })
  afterAll(() => pool.end())

  const { one, many } = inboxStatements(tableNames('justonce_', undefined)).claimIfOpen
  const claims = [
    { text: one.text, values: ['tag-note', 'm1', null] },
    { text: many.text, values: [textArray(['tag-note']), textArray(['m1']), '{NULL}'] },
  ]

  test.each(claims)('claims nothing by itself, %#', async (claim) => {
    expect((await pool.query(claim)).rowCount).toBe(0)
    await postgresStore({ pool }).transaction(async () => {})
    expect((await pool.query(claim)).rowCount).toBe(0)
    expect((await pool.query('SELECT * FROM justonce_inbox')).rows).toEqual([])
  })
})
