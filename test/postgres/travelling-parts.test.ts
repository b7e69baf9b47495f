import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Parts } from '../../src/contracts/index.ts'
import { isJustonceError } from '../../src/index.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'
import { poolsOf, type SharedPool } from './opened-clients.ts'

const server = await requireServer('postgres')

/** Nobody waits for the boundaries of parts, so each of them, and the commit, must fail if the one before was not carried out. */
describe.skipIf(!server.available).each(poolsOf)('$client: boundaries that nobody waits for', ({ open }) => {
  let shared: SharedPool
  let others: SharedPool
  let parts: Parts<unknown>
  beforeEach(async () => {
    const url = await createDatabase(server.url)
    shared = open({ url })
    others = open({ url })
    await shared.store.schema.install()
    await shared.query('CREATE TABLE tags (note text NOT NULL)')
    parts = shared.store.parts as Parts<unknown>
  })
  afterEach(() => Promise.all([shared.close(), others.close()]))

  const tag = (tx: unknown, note: string) => shared.run(tx, `INSERT INTO tags VALUES ('${note}')`)
  const tags = async () => {
    const found = await others.store.transaction((tx) => others.run(tx, 'SELECT note FROM tags ORDER BY note'))
    return found.map(({ note }) => note)
  }
  /** As if the latest boundary had not arrived. */
  const withoutTheLatest = (tx: unknown, part: number) => shared.run(tx, `RELEASE SAVEPOINT justonce_part_${part}`)

  test('the commit is refused if the part that it follows was never begun', async () => {
    const work = shared.store.transaction(async (tx) => {
      await parts.next(tx)
      await tag(tx, 'failed')
      await parts.undo(tx)
      await tag(tx, 'good')
      await withoutTheLatest(tx, 2)
    })
    await expect(work).rejects.toSatisfy((error) => isJustonceError(error, 'TX_ENDED'))
    expect(await tags()).toEqual([])
  })

  test('so is a boundary, and with it everything behind it, the commit included', async () => {
    const work = shared.store.transaction(async (tx) => {
      await parts.next(tx)
      await tag(tx, 'first')
      await withoutTheLatest(tx, 1)
      const boundary = parts.next(tx).catch((error) => error.code)
      await expect(tag(tx, 'second')).rejects.toMatchObject({ code: '25P02' })
      expect(await boundary).toBe('3B001')
    })
    await expect(work).rejects.toSatisfy((error) => isJustonceError(error, 'TX_ABORTED'))
    expect(await tags()).toEqual([])
  })

  test('a boundary on a connection that is gone is refused, and not awaited forever', async () => {
    const work = shared.store.transaction(async (tx) => {
      await parts.next(tx)
      await shared.run(tx, 'SELECT pg_terminate_backend(pg_backend_pid())').catch(() => {})
      for (const boundary of ['next', 'undo', 'next'] as const) await expect(parts[boundary](tx)).rejects.toThrow()
    })
    await expect(work).rejects.toThrow()
    expect(await tags()).toEqual([])
  })
})
