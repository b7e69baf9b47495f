import { expect, test } from 'vitest'
import { settingsIn } from './unseen-settings.ts'

test.each([
  ["BEGIN PERFORM set_config('app.tenant', t, true); END", ['app.tenant']],
  ['BEGIN SET LOCAL ROLE reader; SET search_path TO a; END', ['role', 'search_path']],
  ["IF true THEN SET LOCAL TIME ZONE 'UTC'; END IF", ['timezone']],
  ["EXECUTE format('SET LOCAL search_path TO %I', t)", ['search_path']],
  ["SELECT set_config($1, 'x', true)", []],
  ['BEGIN SET TRANSACTION READ ONLY; SET CONSTRAINTS ALL DEFERRED; END', []],
  ['UPDATE notes SET role = 1; UPDATE notes\nSET timezone = 2', []],
])('%s changes %s', (source, names) => {
  expect(settingsIn(source)).toEqual(names)
})
