import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operations } from '../../src/operations/index.ts'
import { redisStore } from '../../src/stores/redis/index.ts'
import { parkedMessage } from '../../src/testing/sample-records.ts'
import { requireServer } from '../servers/require.ts'
import { aDayMs, connected, freshTag, isolatedStore, type TestClient } from './open-redis.ts'

const redis = await requireServer('redis')

describe.skipIf(!redis.available)('a list of parked messages, which takes several round trips', () => {
  let client: TestClient
  beforeAll(async () => {
    client = await connected(redis.url)
  })
  afterAll(() => client?.destroy())

  /** Two messages wait; the first becomes a dead letter when this store has found it. */
  async function open() {
    const tag = freshTag()
    const other = isolatedStore(client, tag)
    await other.transaction((tx) => other.parking.park(tx, [parkedMessage('m1'), parkedMessage('m2')]))
    const [row] = await other.parking.list({ key: 'm1' })
    if (row === undefined) throw new Error('m1 is not there')
    const { handler, key, errors, shape } = row
    let dies = (): Promise<void> => {
      dies = async () => {}
      const reason = 'PARTLY_APPLIED'
      return other.transaction((tx) =>
        other.parking.change(tx, [{ handler, key, kind: 'dead', attempts: 1, reason, errors, shape }]),
      )
    }
    const slow = {
      async sendCommand(args: string[]): Promise<unknown> {
        const answer = await client.sendCommand(args)
        if (JSON.stringify(answer).includes('m1')) await dies()
        return answer
      },
    }
    const store = redisStore({ client: slow, mode: 'isolated', hashTag: tag, recordTtlMs: aDayMs, onWarning: () => {} })
    return { store, other }
  }

  test('has only what still fits when it is read', async () => {
    const { store } = await open()
    const waiting = await store.parking.list({ state: 'waiting' })
    expect(waiting.map(({ key, state }) => [key, state])).toEqual([['m2', 'waiting']])
  })

  test('does not end where nothing of a page still fits', async () => {
    const { store } = await open()
    const [first] = await store.parking.list({ state: 'waiting' }, { limit: 1 })
    expect(first?.key).toBe('m2')
  })

  test('makes no dead letter due', async () => {
    const { store, other } = await open()
    expect(await operations(store).retries.retryNow('all', { by: 'ada', why: 'a test' })).toBe(1)
    const rows = await other.parking.list()
    expect(rows.map(({ key, state }) => [key, state])).toEqual([
      ['m1', 'dead'],
      ['m2', 'waiting'],
    ])
  })
})
