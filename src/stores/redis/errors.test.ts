import { expect, test } from 'vitest'
import { asStoreError, classify } from './errors.ts'

test.each([
  ['NOAUTH Authentication required.', 'STORE_DENIED'],
  ['WRONGPASS invalid username-password pair or user is disabled.', 'STORE_DENIED'],
  ["NOPERM User app has no permissions to run the 'set' command", 'STORE_DENIED'],
  ['LOADING Redis is loading the dataset in memory', 'STORE_UNREACHABLE'],
  ["OOM command not allowed when used memory > 'maxmemory'.", 'STORE_FULL'],
  ['ERR Script killed by user with SCRIPT KILL... script: 694a5fe1, on @user_script:1.', 'STORE_UNREACHABLE'],
  ['ERR max number of clients reached', 'STORE_UNREACHABLE'],
  ['Socket closed unexpectedly', 'STORE_UNREACHABLE'],
])('%s: no message is to blame for it', (said, code) => {
  const error = asStoreError(new Error(said))
  expect(error).toMatchObject({ code })
  expect(classify(error)).not.toBe('none')
})

test('what the server refuses of a command stays as it is', () => {
  const error = new Error('WRONGTYPE Operation against a key holding the wrong kind of value')
  expect(asStoreError(error)).toBe(error)
  expect(classify(error)).toBe('none')
})
