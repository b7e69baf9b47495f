import pg from 'pg'
import postgres, { type ReservedSql } from 'postgres'
import { afterAll, describe, expect, expectTypeOf, test } from 'vitest'
import type { Store } from '../../src/contracts/index.ts'
import { type PostgresStore, postgresStore } from '../../src/stores/postgres/index.ts'

// Neither of them connects before it is used.
const pool = new pg.Pool({ max: 7 })
const sql = postgres({ max: 3 })

describe('the options of postgresStore()', () => {
  afterAll(async () => {
    await pool.end()
    await sql.end()
  })

  test('the native client reaches the type of tx', () => {
    const withPg = postgresStore({ pool })
    expectTypeOf(withPg).toEqualTypeOf<PostgresStore<pg.PoolClient>>()
    expectTypeOf(withPg).toExtend<Store<pg.PoolClient>>()
    expectTypeOf(withPg.queue).not.toBeNullable()
    expectTypeOf<Parameters<Parameters<typeof withPg.transaction>[0]>[0]>().toEqualTypeOf<pg.PoolClient>()
    const withJs = postgresStore({ sql })
    expectTypeOf(withJs).toEqualTypeOf<PostgresStore<ReservedSql>>()
    expectTypeOf<Parameters<Parameters<typeof withJs.transaction>[0]>[0]>().toEqualTypeOf<ReservedSql>()
    expect([withPg.name, withJs.name]).toEqual(['postgres', 'postgres'])
  })

  test('a class of the user that extends the client comes through', () => {
    interface MyClient extends pg.PoolClient {
      readonly mine: true
    }
    interface MyPool {
      connect(): Promise<MyClient>
      connect(callback: (error: Error | undefined, client: MyClient | undefined, done: () => void) => void): void
    }
    const store = postgresStore({ pool: pool as unknown as MyPool })
    expectTypeOf(store).toEqualTypeOf<PostgresStore<MyClient>>()
    expect(store.capabilities.connections).toBe(7)
  })

  test('the size of the pool is reported', () => {
    expect(postgresStore({ pool }).capabilities).toEqual({ revocable: true, connections: 7, interleaves: true })
    expect(postgresStore({ sql }).capabilities).toEqual({ revocable: true, connections: 3, interleaves: true })
  })

  test('an unknown option is refused with the one that was meant', () => {
    expect(() => postgresStore({ pool, prefx: 'x_' } as never)).toThrow('Did you mean prefix?')
    expect(() => postgresStore({ pool, schemas: 'x' } as never)).toThrow('Did you mean schema?')
  })

  test.each([{}, { pool: {} }, { sql: {} }, { pool, sql }, { pool: sql }, { sql: pool }])(
    'exactly one client is needed: %#',
    (options) => {
      expect(() => postgresStore(options as never)).toThrow(expect.objectContaining({ code: 'OPTION_INVALID' }))
    },
  )

  test.each([
    ['a bare pool', pool, 'postgresStore() was given a pool of pg itself: write postgresStore({ pool }).'],
    ['a bare sql', sql, 'postgresStore() was given the sql of postgres.js itself: write postgresStore({ sql }).'],
    ['a single client', { pool: new pg.Client() }, 'pool is a client of pg, but must be a Pool of pg: new pg.Pool().'],
    ['a sql as pool', { pool: sql }, 'pool is the sql of postgres.js, but must be a Pool of pg: new pg.Pool().'],
    ['a pool as sql', { sql: pool }, 'sql is a pool of pg, but must be what postgres() of postgres.js'],
    ['a library around it', { pool: { $executeRaw() {}, $queryRaw() {} } }, 'pool is a client of Prisma, but must be'],
  ])('what was given instead of a pool is named: %s', (_, options, text) => {
    expect(() => postgresStore(options as never)).toThrow(text)
  })

  test.each(['', 'a b', 'a"b', 'a;drop', '1a', 'ä', 'x'.repeat(41)])('prefix %j is refused', (prefix) => {
    expect(() => postgresStore({ pool, prefix })).toThrow(expect.objectContaining({ code: 'OPTION_INVALID' }))
  })

  test.each(['', 'a.b', 'a"b', 'x'.repeat(64)])('schema %j is refused', (schema) => {
    expect(() => postgresStore({ pool, schema })).toThrow(expect.objectContaining({ code: 'OPTION_INVALID' }))
  })

  test('prefix and schema are in every statement', () => {
    const text = postgresStore({ pool, prefix: 'my_', schema: 'of_mine' }).schema.print()
    expect(text).toContain('CREATE TABLE "of_mine"."my_inbox"')
    expect(text).not.toContain('justonce_')
  })
})
