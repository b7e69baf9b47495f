import { expect, test } from 'vitest'
import { leavesSomething } from './left-in-session.ts'
import { sharedIn } from './shared-in.ts'

test.each([
  ['SAVEPOINT a', 'a savepoint'],
  ['SELECT 1; ROLLBACK TO a', 'a savepoint'],
  ["SET LOCAL app.tenant = 'x'", 'SET'],
  ['/* why */ SET CONSTRAINTS ALL IMMEDIATE', 'SET'],
  ['SET TRANSACTION READ ONLY', 'SET'],
  ['RESET ROLE', 'RESET'],
  ["SELECT set_config('app.tenant', $1, true)", 'set_config()'],
  ['CREATE TEMP TABLE a (b int) ON COMMIT DROP', 'a temporary table'],
  ['SELECT 1 INTO TEMPORARY a', 'a temporary table'],
  ['COPY tags FROM STDIN', 'COPY'],
  ['copy tags (note) from stdin with (format csv)', 'COPY'],
  ['COPY (SELECT temp FROM temperatures) TO STDOUT', 'COPY'],
  ['DECLARE c CURSOR FOR SELECT 1', 'DECLARE'],
  ['PREPARE p AS SELECT 1', 'PREPARE'],
  ['DO $$ BEGIN PERFORM 1; END $$', 'DO'],
  ['INSERT INTO a DEFAULT VALUES; SELECT lastval()', 'lastval()'],
  [`SELECT currval ('a_id_seq')`, 'currval()'],
])('%s: %s is shared by all messages of a transaction', (sql, what) => {
  expect(sharedIn(sql)).toBe(what)
})

test.each([
  'INSERT INTO release (temp, "set") VALUES ($1, $2) ON CONFLICT DO NOTHING',
  'UPDATE accounts SET balance = balance + $1 WHERE id = $2',
  `INSERT INTO notes VALUES ('SET ROLE x; SAVEPOINT a')`,
  "SELECT nextval('a_id_seq'), pg_advisory_xact_lock(1)",
  'INSERT INTO a (b) SELECT c FROM declare_of RETURNING id',
  'INSERT INTO copy_jobs SELECT id FROM stdin_files',
  `COPY (SELECT temp FROM temperatures) TO '/tmp/stdout'`,
])('%s is of its own message', (sql) => {
  expect(sharedIn(sql)).toBeUndefined()
})

test.each([
  'create local temporary table scratch (v text)',
  'CREATE OR REPLACE TEMP VIEW mine AS SELECT 1 AS v',
  'create table if not exists pg_temp.scratch (v text)',
  'CREATE TABLE "pg_temp" . scratch (v text)',
  'CREATE FUNCTION pg_temp.mine() RETURNS int LANGUAGE sql RETURN 1',
])('%s is temporary: shared by all messages of a transaction, and it stays in the session', (sql) => {
  expect(sharedIn(sql)).toBe('a temporary table')
  expect(leavesSomething(sql)).toBe(true)
})
