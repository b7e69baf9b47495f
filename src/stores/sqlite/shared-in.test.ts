import { expect, test } from 'vitest'
import { sharedIn } from './shared-in.ts'

test.each([
  ['SELECT changes()', 'changes()'],
  ['insert into t values (LAST_INSERT_ROWID ( ))', 'last_insert_rowid()'],
  ['select "changes" /* of all */ ()', 'changes()'],
  ['select [total_changes]()', 'total_changes()'],
  ['insert into changes (a) values (1) returning changes()', 'changes()'],
  ['create temp table notes (a)', 'a temporary table'],
  ['CREATE TEMPORARY VIEW v AS SELECT 1', 'a temporary table'],
  ['select 1; create unique index "temp".i on notes (a)', 'a temporary table'],
  ['savepoint s', 'a savepoint'],
])('%s is shared with the others in the transaction', (sql, what) => {
  expect(sharedIn(sql)).toBe(what)
})

test.each([
  'insert into changes (a) values (1)',
  'insert into main."changes"(a) values (1)',
  'create table changes (a)',
  'with changes (a) as (select 1) select * from changes',
  "insert into notes values ('all changes()')",
  'select 1 -- not changes()',
  'create table measured (temp real)',
  "create table notes (text default 'a temp table')",
])('%s is not', (sql) => {
  expect(sharedIn(sql)).toBeUndefined()
})
