import { describe, expect, it } from 'vitest'
import { fakeClock } from '../../testing/fake-clock.ts'
import { recordOf } from '../../testing/sample-records.ts'
import { MemoryDatabase, memoryStore } from './index.ts'

describe('memoryStore()', () => {
  it('keeps values by copy: nobody shares what is stored', async () => {
    const store = memoryStore()
    const tags = ['a']
    await store.transaction(async (tx) => {
      tx.set('note', { tags })
      tags.push('b')
      tx.get<{ tags: string[] }>('note')?.tags.push('c')
      expect(tx.get('note')).toEqual({ tags: ['a'] })
    })
    await store.transaction(async (tx) => {
      const [[, note] = []] = tx.entries('note')
      ;(note as { tags: string[] }).tags.push('d')
      expect(tx.entries()).toEqual([['note', { tags: ['a'] }]])
      expect([tx.has('note'), tx.delete('note'), tx.has('note'), tx.get('note')]).toEqual([
        true,
        true,
        false,
        undefined,
      ])
    })
  })

  it('has an epoch of its own: what another remembers is nothing that this one has done', async () => {
    const stores = [memoryStore(), memoryStore()]
    const epochs = stores.map((store) => store.transaction(async (tx) => (await store.inbox.claim(tx, [])).epoch))
    expect(new Set(await Promise.all(epochs)).size).toBe(2)
  })

  it('keeps bytes by copy', async () => {
    const store = memoryStore()
    const message = { envelope: Uint8Array.of(1), body: Uint8Array.of(1) }
    await store.queue.send(undefined, 'notes', [{ message, key: undefined }])
    message.body[0] = 9
    const [first] = await store.queue.take('notes', { limit: 1, visibilityMs: 0 })
    expect(first?.message.body[0]).toBe(1)
    first?.message.body.fill(7)
    const [again] = await store.queue.take('notes', { limit: 1, visibilityMs: 0 })
    expect(again?.message.body[0]).toBe(1)
  })

  it('lists entries by prefix in the order of their keys', async () => {
    const store = memoryStore()
    await store.transaction(async (tx) => {
      for (const key of ['b:2', 'a:2', 'a:1', 'ab']) tx.set(key, key)
      expect(tx.entries('a:').map(([key]) => key)).toEqual(['a:1', 'a:2'])
      expect(tx.entries().map(([key]) => key)).toEqual(['a:1', 'a:2', 'ab', 'b:2'])
    })
  })

  it('takes its time from the clock it is given', async () => {
    const clock = fakeClock()
    const store = memoryStore({ clock })
    await store.transaction((tx) => store.inbox.claim(tx, [{ handler: 'h', key: 'm1', fingerprint: undefined }]))
    expect((await recordOf(store, { handler: 'h', key: 'm1' }))?.processedAt).toEqual(clock.now())
    await store.queue.send(undefined, 'notes', [
      { message: { envelope: new Uint8Array(), body: new Uint8Array() }, key: undefined },
    ])
    await store.queue.take('notes', { limit: 1, visibilityMs: 1000 })
    await clock.advance(999)
    expect(await store.queue.count('notes')).toEqual({ ready: 0, hidden: 1, oldestMs: 999 })
    await clock.advance(1)
    expect(await store.queue.count('notes')).toEqual({ ready: 1, hidden: 0, oldestMs: 1_000 })
  })

  it('refuses a tx that is not of a memory store, and options it does not know', async () => {
    const store = memoryStore()
    const foreign = {} as never
    await expect(store.inbox.claim(foreign, [])).rejects.toMatchObject({ code: 'OPTION_INVALID' })
    expect(() => memoryStore({ clok: 1 } as never)).toThrow(/clok/)
    const options = { database: new MemoryDatabase(), busyTimeoutMs: 1 }
    expect(() => memoryStore(options)).toThrow(expect.objectContaining({ code: 'OPTION_INVALID' }))
  })

  it('a listener of another store on the same data hears what was sent, once it is committed', async () => {
    const database = new MemoryDatabase()
    const [store, rival] = [memoryStore({ database }), memoryStore({ database })]
    const woken = Promise.withResolvers<void>()
    const stop = await rival.queue.listen?.('notes', woken.resolve)
    await store.transaction((tx) =>
      store.queue.send(tx, 'notes', [
        { message: { envelope: new Uint8Array(), body: new Uint8Array() }, key: undefined },
      ]),
    )
    await woken.promise
    expect(await rival.queue.take('notes', { limit: 1, visibilityMs: 1 })).toHaveLength(1)
    await stop?.()
    expect(database.listeners.size).toBe(0)
  })
})
