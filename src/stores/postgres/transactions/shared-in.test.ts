import { expect, test } from 'vitest'
import { leavesSomething } from './left-in-session.ts'
import { sharedIn } from './shared-in.ts'

const temporary = [
  'CREATE TEMP TABLE scratch (v text)',
  'create local temporary table scratch (v text)',
  'SELECT 1 AS v INTO TEMP scratch',
  'CREATE OR REPLACE TEMP VIEW mine AS SELECT 1 AS v',
  'create table if not exists pg_temp.scratch (v text)',
  'CREATE TABLE "pg_temp" . scratch (v text)',
  'CREATE FUNCTION pg_temp.mine() RETURNS int LANGUAGE sql RETURN 1',
]

test.each(temporary)('is shared by messages that interleave, and stays in the session: %s', (sql) => {
  expect(sharedIn(sql)).toBe('a temporary table')
  expect(leavesSomething(sql)).toBe(true)
})

test.each(['COPY tags FROM STDIN', 'copy tags (note) from stdin with (format csv)'])(
  'is shared, because nothing may be sent behind it: %s',
  (sql) => {
    expect(sharedIn(sql)).toBe('COPY FROM STDIN')
  },
)

test.each([
  'INSERT INTO temperatures VALUES ($1)',
  'SELECT * FROM notes WHERE temp > $1',
  'INSERT INTO copy_jobs SELECT id FROM stdin_files',
  'COPY (SELECT 1) TO STDOUT',
])('is nobody else’s business: %s', (sql) => {
  expect(sharedIn(sql)).toBeUndefined()
  expect(leavesSomething(sql)).toBe(false)
})
