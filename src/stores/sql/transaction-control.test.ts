import { describe, expect, it } from 'vitest'
import { findTransactionControl } from './transaction-control.ts'

describe('findTransactionControl', () => {
  it.each([
    ['begin', 'BEGIN'],
    ['BEGIN IMMEDIATE', 'BEGIN'],
    ['  \n commit;', 'COMMIT'],
    ['COMMIT WORK', 'COMMIT'],
    ['commit and chain', 'COMMIT'],
    ['End', 'END'],
    ['END TRANSACTION;', 'END'],
    ['ROLLBACK', 'ROLLBACK'],
    ['rollback work', 'ROLLBACK'],
    ['ROLLBACK TRANSACTION;', 'ROLLBACK'],
    ['ABORT', 'ABORT'],
    ['start transaction read only', 'START TRANSACTION'],
    ['start /* x */ transaction', 'START TRANSACTION'],
    ["PREPARE TRANSACTION 'a'", 'PREPARE TRANSACTION'],
    ["COMMIT PREPARED 'a'", 'COMMIT PREPARED'],
    ["rollback prepared 'a'", 'ROLLBACK PREPARED'],
    ['-- a note\ncommit', 'COMMIT'],
    ['/* a /* nested */ note */ commit', 'COMMIT'],
    ['/* not nested /* in SQLite */ commit', 'COMMIT'],
    ['insert into t values (1); commit; begin', 'COMMIT'],
    ["insert into t values ('it''s;'); COMMIT", 'COMMIT'],
    ["select E'it\\'s; '; COMMIT", 'COMMIT'],
    ["select 'C:\\'; COMMIT", 'COMMIT'],
    ['select $x$ ; rollback $x$; commit', 'COMMIT'],
    ['select 1 as foo$bar$; commit; select 2 as foo$bar$', 'COMMIT'],
    ['select $1; commit', 'COMMIT'],
    [';;commit', 'COMMIT'],
    ['rollback to a; rollback', 'ROLLBACK'],
    ['create trigger t after insert on x begin delete from y; end; commit', 'COMMIT'],
    ['create function f() returns int begin atomic select 1; end; commit', 'COMMIT'],
    ["create function f() returns int as 'begin; end' language sql; commit", 'COMMIT'],
    ['create function f(begin date) returns date return begin; commit', 'COMMIT'],
  ])('finds it in: %s', (sql, keyword) => {
    expect(findTransactionControl(sql)).toBe(keyword)
  })

  it.each([
    ['select 1'],
    [''],
    ['SAVEPOINT a'],
    ['savepoint a; insert into t values (1); release a'],
    ['RELEASE SAVEPOINT a'],
    ['ROLLBACK TO a'],
    ['rollback to savepoint a'],
    ['ROLLBACK TRANSACTION TO a'],
    ['rollback work to savepoint a; select 1'],
    ['prepare q as select 1'],
    ['select case when a then b end from t; select case a when 1 then 2 end'],
    ["select 'x; commit'"],
    ["select 'it''s; commit; '"],
    ["select E'it\\'; commit'"],
    ['select "a;commit" from t'],
    ['select "a"";commit" from t'],
    ['select `a;commit` from t'],
    ['select 1 -- ; commit'],
    ['select 1; -- commit\n'],
    ['select 1 /* ; commit; /* ; commit */ ; commit */'],
    ['select $$ ; commit; $$'],
    ['do $body$ begin; commit; $x$ ; commit $x$ end $body$'],
    ['select begin, end from spans; insert into spans (end) values (1)'],
    ['commits'],
    ['select 1; begins'],
    ['"commit"'],
    ['start_up'],
    ['create trigger t after insert on x begin delete from y; insert into z values (1); end'],
    ['CREATE TEMP TRIGGER IF NOT EXISTS t BEFORE UPDATE ON x WHEN CASE 1 WHEN 1 THEN 1 END BEGIN SELECT 1; END;'],
    ['create trigger t after insert on x begin update spans set end = case when 1 then 2 end; select 1; end; select 2'],
    ['create or replace function f() returns int language sql begin atomic select 1; select 2; end'],
    ['create procedure p() language plpgsql as $$ begin commit; end $$'],
    ['create constraint trigger t after insert on x for each row execute function f(); select 1'],
  ])('lets pass: %s', (sql) => {
    expect(findTransactionControl(sql)).toBeUndefined()
  })

  it('reads a long literal in one pass', () => {
    const literal = "it''s; ".repeat(200_000)
    expect(findTransactionControl(`insert into t values ('${literal}'); commit`)).toBe('COMMIT')
    expect(findTransactionControl(`insert into t values ('${literal} commit')`)).toBeUndefined()
  })
})
