import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { isJustonceError } from '../../errors/index.ts'
import { redisStore } from './redis-store.ts'

const commandTimeoutMs = 5_000

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Answers a claim, whose question is its second key and whose token follows the prefix, and nothing after that. */
function goneAfterClaim() {
  const sent: string[][] = []
  const sendCommand = (args: string[]): Promise<unknown> => {
    sent.push(args)
    return sent.length === 1 ? Promise.resolve([args[4], ['epoch', `C${args[6]}`]]) : new Promise(() => {})
  }
  return { client: { sendCommand }, sent }
}

test('a server that does not answer the commit is waited for once, not again for an answer that it is off', async () => {
  const { client, sent } = goneAfterClaim()
  const store = redisStore({ client, mode: 'isolated', recordTtlMs: 60_000, commandTimeoutMs, database: 0 })
  const work = store.transaction((tx) =>
    store.inbox.claim(tx, [{ handler: 'tag-note', key: 'm1', fingerprint: undefined }]),
  )
  const failed = vi.fn((error: unknown) => isJustonceError(error, 'COMMIT_UNKNOWN'))
  void work.catch(failed)
  await vi.advanceTimersByTimeAsync(commandTimeoutMs + 10)
  expect(failed).toHaveReturnedWith(true)
  // Sent all the same: it may arrive when the client is connected again.
  expect(sent.at(-1)).toContain(JSON.stringify(['tag-note', 'm1']))
  expect(sent).toHaveLength(3)
})
