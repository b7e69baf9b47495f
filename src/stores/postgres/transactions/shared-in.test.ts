import { expect, test } from 'vitest'
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
])('%s is of its own message', (sql) => {
  expect(sharedIn(sql)).toBeUndefined()
})
