import { DatabaseSync } from 'node:sqlite'
import mysql from 'mysql2/promise'
import pg from 'pg'
import postgres from 'postgres'
import { expect, test } from 'vitest'
import { whatWasGiven, wrapperName } from './what-was-given.ts'

const nothing = () => {}

test.each([
  ['a client of Prisma', { $executeRaw: nothing, $queryRaw: nothing }],
  ['a handle of Kysely', { selectFrom: nothing, getExecutor: nothing }],
  ['a handle of Drizzle', { select: nothing, insert: nothing, session: {}, dialect: {} }],
  ['a handle of Knex', Object.assign(() => {}, { raw: nothing, schema: {}, client: {} })],
  ['a query runner of TypeORM', { query: nothing, startTransaction: nothing, commitTransaction: nothing, manager: {} }],
  ['an entity manager of TypeORM', { query: nothing, getRepository: nothing, connection: {} }],
  ['a transaction of Sequelize', { sequelize: {}, commit: nothing, rollback: nothing }],
])('what wraps a client is named: %s', (name, value) => {
  expect([whatWasGiven(value), wrapperName(value)]).toEqual([name, name])
})

// None of them connects before it is used.
test.each([
  ['a pool of pg', new pg.Pool()],
  ['a client of pg', new pg.Client()],
  ['the sql of postgres.js', postgres()],
  ['a pool of mysql2', mysql.createPool({})],
  ['a database of SQLite', new DatabaseSync(':memory:')],
  ['a Date', new Date()],
  ['an object', {}],
  ['an object', Object.create(null)],
  ['string', 'postgres://'],
  ['undefined', undefined],
  ['null', null],
])('a client, and what is none, is named, too: %s', (name, value) => {
  expect(whatWasGiven(value)).toBe(name)
  expect(wrapperName(value)).toBeUndefined()
})
