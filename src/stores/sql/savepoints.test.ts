import { expect, test } from 'vitest'
import { Savepoints } from './savepoints.ts'

function after(...texts: readonly string[]): { refused: (string | undefined)[]; left: readonly string[] } {
  const savepoints = new Savepoints({ sameNameReplaces: false })
  return {
    refused: texts.map((text) => savepoints.foreign(text)).filter((each) => each !== undefined),
    left: savepoints.left,
  }
}

test.each([
  ['SAVEPOINT a', 'RELEASE a'],
  ['savepoint A', 'release savepoint a'],
  ['SAVEPOINT "a b"', 'ROLLBACK TO "a b"', 'RELEASE "a b"'],
  ['SAVEPOINT `a`', 'RELEASE SAVEPOINT `a`'],
  ['SAVEPOINT a', 'SAVEPOINT b', 'RELEASE a'],
  ['SAVEPOINT a', 'SAVEPOINT a', 'RELEASE a', 'RELEASE a'],
  ['SAVEPOINT a; INSERT INTO t VALUES (1); ROLLBACK TO SAVEPOINT a; RELEASE a'],
  ['/* x */ SAVEPOINT a -- y\n', 'ROLLBACK WORK TO a', 'rollback transaction to savepoint a', 'RELEASE a'],
  ["INSERT INTO t VALUES ('ROLLBACK TO x')", 'SELECT 1 AS savepoint'],
])('%s: nothing is refused and nothing is left', (...texts) => {
  expect(after(...texts)).toEqual({ refused: [], left: [] })
})

test.each([
  [['SAVEPOINT a'], ['RELEASE SAVEPOINT a']],
  [['SAVEPOINT a', 'SAVEPOINT b'], ['RELEASE SAVEPOINT a']],
  [
    ['SAVEPOINT a', 'SAVEPOINT b', 'SAVEPOINT A'],
    ['RELEASE SAVEPOINT a', 'RELEASE SAVEPOINT a'],
  ],
  [['SAVEPOINT a', 'SAVEPOINT b', 'ROLLBACK TO a'], ['RELEASE SAVEPOINT a']],
])('%s leaves %s to be done', (texts, left) => {
  expect(after(...texts)).toEqual({ refused: [], left })
})

test.each([
  [['ROLLBACK TO a'], 'ROLLBACK TO a'],
  [['RELEASE SAVEPOINT justonce_part'], 'RELEASE justonce_part'],
  [['SAVEPOINT a', 'RELEASE a', 'ROLLBACK TO a'], 'ROLLBACK TO a'],
  [['SAVEPOINT a', 'SAVEPOINT b', 'ROLLBACK TO a', 'RELEASE b'], 'RELEASE b'],
  [['SELECT 1; ROLLBACK TRANSACTION TO SAVEPOINT "a"'], 'ROLLBACK TO "a"'],
])('%s is refused: %s', (texts, what) => {
  expect(after(...texts).refused).toEqual([`${what}, which is not a savepoint of its own,`])
})

test('where a name replaces the one before, there is only one of it', () => {
  const savepoints = new Savepoints({ sameNameReplaces: true })
  for (const text of ['SAVEPOINT a', 'SAVEPOINT b', 'SAVEPOINT a']) savepoints.foreign(text)
  expect(savepoints.left).toEqual(['RELEASE SAVEPOINT b'])
  savepoints.foreign('RELEASE b')
  expect(savepoints.left).toEqual([])
})
