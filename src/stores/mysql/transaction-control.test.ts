import { describe, expect, it } from 'vitest'
import { findTransactionControl } from './transaction-control.ts'

describe('findTransactionControl of MySQL', () => {
  it.each([
    ['begin', 'BEGIN'],
    ['  \n commit;', 'COMMIT'],
    ['COMMIT AND CHAIN', 'COMMIT AND'],
    ['ROLLBACK', 'ROLLBACK'],
    ['rollback work', 'ROLLBACK'],
    ['START TRANSACTION WITH CONSISTENT SNAPSHOT', 'START TRANSACTION'],
    ["xa start 'a'", 'XA START'],
    ['create table t (a int)', 'CREATE TABLE'],
    ['CREATE OR REPLACE TABLE t (a int)', 'CREATE OR'],
    ['drop index i on t', 'DROP INDEX'],
    ['alter table t add b int', 'ALTER TABLE'],
    ['truncate t', 'TRUNCATE T'],
    ['rename table a to b', 'RENAME TABLE'],
    ['lock tables t write', 'LOCK TABLES'],
    ['UNLOCK TABLES', 'UNLOCK TABLES'],
    ['flush tables', 'FLUSH TABLES'],
    ['grant select on t to u', 'GRANT SELECT'],
    ['analyze table t', 'ANALYZE TABLE'],
    ['load index into cache t', 'LOAD INDEX'],
    ['set autocommit=1', 'SET AUTOCOMMIT'],
    ['set @@autocommit = 1', 'SET AUTOCOMMIT'],
    ['SET SESSION autocommit = ON', 'SET AUTOCOMMIT'],
    ['set @a = 1, @b = 2, @c = 3, @d = 4, `autocommit` = 1, autocommit = 1', 'SET AUTOCOMMIT'],
    ["set password = 'x'", 'SET PASSWORD'],
    ['set statement max_statement_time = 1 for commit', 'COMMIT'],
    ['/*!50000 commit */', 'COMMIT'],
    ['/*M!100100 commit */', 'COMMIT'],
    ['/*! set */ autocommit = 1', 'SET AUTOCOMMIT'],
    ['/* a note */ commit', 'COMMIT'],
    ['-- a note\ncommit', 'COMMIT'],
    ['# a note\ncommit', 'COMMIT'],
    ['insert into t values (1); commit', 'COMMIT'],
    ["insert into t values ('it\\'s;'); COMMIT", 'COMMIT'],
    ["insert into t values ('it''s;'); COMMIT", 'COMMIT'],
    ['select `a;b`; commit', 'COMMIT'],
    [';;commit', 'COMMIT'],
  ])('finds it in: %s', (sql, found) => {
    expect(findTransactionControl(sql)).toBe(found)
  })

  it.each([
    [''],
    ['select 1'],
    ['(select 1) union (select 2)'],
    ['SAVEPOINT a'],
    ['ROLLBACK TO a'],
    ['rollback work to savepoint a'],
    ['release savepoint a'],
    ['create temporary table t (a int)'],
    ['CREATE OR REPLACE TEMPORARY TABLE t (a int)'],
    ['drop temporary table t'],
    ["load data local infile 'x' into table t"],
    ['set @a = 1'],
    ["set names utf8mb4, @begin = 'commit'"],
    ['update t set autocommit = 1, password = 2'],
    ["insert into t values ('x; commit')"],
    ["insert into t values ('it\\'s; commit')"],
    ['insert into t values ("a""; commit")'],
    ['select `commit` from t; select `a``; commit` from t'],
    ['select 1 -- ; commit'],
    ['select 1 # ; commit'],
    ['select 1 /* ; commit */'],
    ['select 5--1'],
    ['commits'],
    ['call tidy_up()'],
    ['show create table t'],
    ['explain update t set a = 1'],
    ['with start as (select 1) select * from start'],
  ])('lets pass: %s', (sql) => {
    expect(findTransactionControl(sql)).toBeUndefined()
  })

  it('reads a long literal in one pass', () => {
    const literal = "it\\'s; ".repeat(200_000)
    expect(findTransactionControl(`insert into t values ('${literal}'); commit`)).toBe('COMMIT')
    expect(findTransactionControl(`insert into t values ('${literal} commit')`)).toBeUndefined()
  })
})
