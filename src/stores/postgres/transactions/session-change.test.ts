import { expect, test } from 'vitest'
import { findSessionChange } from './session-change.ts'

test.each([
  ['SET LOCAL search_path TO a, b', ['search_path']],
  ["set local app.tenant = 'x'", ['app.tenant']],
  ['SET LOCAL ROLE reader', ['role']],
  ["SET LOCAL TIME ZONE 'UTC'", ['timezone']],
  ['RESET ROLE', ['role']],
  ["SELECT set_config('app.tenant', $1, true)", ['app.tenant']],
  ["SELECT 1; SELECT set_config('a.b', 'c', true), set_config($1, $2, true)", ['a.b', '']],
])('%s changes %s', (sql, names) => {
  expect(findSessionChange(sql)).toEqual({ refused: undefined, names })
})

test.each([
  ['SET search_path TO a', 'SET search_path'],
  ['SET SESSION statement_timeout = 1', 'SET statement_timeout'],
  ['SELECT 1; SET ROLE reader', 'SET role'],
  ['SET SESSION AUTHORIZATION me', 'SET SESSION'],
  ['SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY', 'SET SESSION'],
  ['RESET ALL', 'RESET ALL'],
  ["SELECT set_config('a.b', 'c', false)", 'set_config'],
])('%s is refused: it would outlive the transaction', (sql, what) => {
  expect(findSessionChange(sql)?.refused).toContain(what)
})

test.each([
  'UPDATE notes SET done = true',
  'SET TRANSACTION READ ONLY',
  'SET CONSTRAINTS ALL DEFERRED',
  "INSERT INTO notes VALUES ('SET ROLE x')",
  'SELECT 1',
])('%s changes nothing', (sql) => {
  expect(findSessionChange(sql)).toBeUndefined()
})
