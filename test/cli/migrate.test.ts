import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { newSchema } from '../postgres/pg-context.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'
import { scratchFolder } from '../sqlite/open-sqlite.ts'
import { type Ended, runJustonce } from './run-justonce.ts'

const fixture = (name: string): string => `test/cli/fixtures/${name}.ts`

function sqliteFile() {
  const folder = scratchFolder()
  onTestFinished(() => folder.remove())
  const path = folder.file('app.db')
  const migrate = (...args: readonly string[]): Promise<Ended> =>
    runJustonce(['migrate', '--store', fixture('sqlite'), ...args], { TEST_SQLITE: path })
  const query = (sql: string): unknown[] => {
    const database = new DatabaseSync(path)
    try {
      return database.prepare(sql).all()
    } finally {
      database.close()
    }
  }
  return { path, migrate, query }
}

describe('justonce migrate', () => {
  test('installs what is missing, and says so; then there is nothing to do', async () => {
    const { migrate } = sqliteFile()
    const missing = await migrate('--check')
    expect(missing.out).toContain('There is no justonce_meta table')
    expect([missing.code, missing.err]).toEqual([1, ''])
    expect(await migrate()).toEqual({ code: 0, out: 'The tables of the sqlite store are up to date now.\n', err: '' })
    const checked = { code: 0, out: 'The tables of the sqlite store are up to date.\n', err: '' }
    expect(await migrate('--check')).toEqual(checked)
    expect((await migrate()).out).toBe('The tables of the sqlite store were already up to date.\n')
  })

  test('--print prints plain SQL that installs the same, and changes nothing', async () => {
    const { migrate, query, path } = sqliteFile()
    const { code, out, err } = await migrate('--print')
    expect([code, err]).toEqual([0, ''])
    expect(query(`SELECT name FROM sqlite_schema`)).toEqual([])
    const database = new DatabaseSync(path)
    database.exec(out)
    database.close()
    expect((await migrate('--check')).code).toBe(0)
  })

  test('tables that are too new are refused, whatever is asked', async () => {
    const { migrate, query } = sqliteFile()
    await migrate()
    query(`UPDATE justonce_meta SET version = 999 RETURNING version`)
    const checked = await migrate('--check')
    expect([checked.code, checked.out]).toEqual([1, expect.stringContaining('999')])
    const installed = await migrate()
    expect([installed.code, installed.out]).toEqual([2, ''])
    expect(installed.err).toContain('999')
  })

  test('two at once both succeed', async () => {
    const { migrate, query } = sqliteFile()
    const ended = await Promise.all([migrate(), migrate()])
    expect(ended.map(({ code, err }) => [code, err])).toEqual([
      [0, ''],
      [0, ''],
    ])
    expect(query(`SELECT count(epoch) AS n FROM justonce_meta`)).toEqual([{ n: 1 }])
  })

  test.each([
    { args: ['migrate'], says: 'which store? Give --store <url or file>' },
    { args: ['migrate', '--store', 'nowhere.ts'], says: 'there is no file nowhere.ts' },
    { args: ['migrate', '--store', fixture('no-store')], says: 'exports no store. Export it as default' },
    { args: ['migrate', '--store', fixture('function')], says: 'exports a function instead of a store' },
    { args: ['migrate', '--store', fixture('sqlite'), '--print', '--check'], says: 'do not go together' },
    { args: ['migrate', '--store', fixture('sqlite'), '--chekc'], says: "Unknown option '--chekc'" },
    {
      args: ['migrate', '--store', fixture('sqlite'), '--days-from', '31.1.2026'],
      says: 'takes a date such as 2026-01-31',
    },
    {
      args: ['migrate', '--store', fixture('sqlite'), '--days-from', '2026-02-30'],
      says: 'takes a date such as 2026-01-31',
    },
    {
      args: ['migrate', '--store', fixture('sqlite'), '--days-from', '9999-01-01'],
      says: '9999-01-01 is in the future',
    },
    {
      args: ['migrate', '--store', fixture('sqlite'), '--check', '--days-from', '2026-01-31'],
      says: 'do not go together',
    },
    { args: ['migrate', '--store', fixture('unreachable')], says: 'the database cannot be reached: ' },
    { args: ['migrate', '--store', fixture('unreachable'), '--check'], says: 'the database cannot be reached: ' },
  ])('$args: $says', async ({ args, says }) => {
    const { code, out, err } = await runJustonce(args)
    expect(err).toContain(says)
    expect(err).not.toMatch(/^ +at /m)
    expect([code, out]).toEqual([2, ''])
  })

  test('help is no mistake', async () => {
    expect((await runJustonce([])).out).toContain('migrate')
    const { code, out, err } = await runJustonce(['migrate', '--help'])
    expect([code, err]).toEqual([0, ''])
    expect(out).toContain('--store <url | file>')
  })
})

const postgres = await requireServer('postgres')

describe.skipIf(!postgres.available)('justonce migrate on Postgres', () => {
  test('installs, checks and prints, and ends although the pool of the file stays open', async () => {
    const url = await createDatabase(postgres.url)
    const env = { TEST_POSTGRES: url, TEST_SCHEMA: newSchema() }
    const migrate = (...args: readonly string[]) =>
      runJustonce(['migrate', '--store', fixture('postgres'), ...args], env)
    expect((await migrate('--check')).code).toBe(1)
    expect(await migrate()).toMatchObject({ code: 0, err: '' })
    expect((await migrate('--check')).code).toBe(0)

    const printed = await runJustonce(['migrate', '--store', fixture('postgres'), '--print'], {
      ...env,
      TEST_SCHEMA: newSchema(),
    })
    expect(printed.out).toMatch(/CREATE TABLE/)
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    await client.query(printed.out)
    await client.end()
  })

  test('a role that may not create tables gets an error that says what to do', async () => {
    const url = new URL(await createDatabase(postgres.url))
    const role = newSchema()
    const client = new pg.Client({ connectionString: url.href })
    await client.connect()
    await client.query(`CREATE ROLE ${role} LOGIN`)
    onTestFinished(async () => {
      await client.query(`DROP ROLE ${role}`)
      await client.end()
    })
    url.username = role
    const { code, err } = await runJustonce(['migrate', '--store', fixture('postgres')], {
      TEST_POSTGRES: url.href,
      TEST_SCHEMA: role,
    })
    expect(code).toBe(2)
    expect(err).toContain('the database refused it: permission denied')
    expect(err).toContain('--print shows the SQL')
  })
})
