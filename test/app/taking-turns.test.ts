import { expect, test } from 'vitest'
import { MemoryDatabase, memoryStore, memoryTransport } from '../../src/memory.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { note, openApp } from './open-app.ts'

/** What happens in which order, with handlers that take whole batches and so long. Each transaction has a database to itself. */
function openTurns(handlerMs: number) {
  const clock = fakeClock()
  const inner = memoryStore({ database: new MemoryDatabase({ clock }) })
  const seen: string[] = []
  const transaction: typeof inner.transaction = async (work, given) => {
    const apart = memoryStore({ database: new MemoryDatabase({ clock }) })
    const answer = await apart.transaction(work, given)
    seen.push('committed')
    return answer
  }
  const claim: typeof inner.inbox.claim = (tx, requests) => {
    seen.push('claimed')
    return inner.inbox.claim(tx, requests)
  }
  const capabilities = { revocable: true, connections: 9 }
  const store = { ...inner, capabilities, transaction, inbox: { ...inner.inbox, claim } }
  const transport = memoryTransport({ order: 'none' })
  const opened = openApp({ store, clock, transport, concurrency: 4, batch: { max: 8, budgetMs: 100 } })
  opened.app.onBatch('note.created', 'tag-notes', async () => {
    seen.push('called')
    await clock.sleep(handlerMs)
    seen.push('returned')
  })
  return { ...opened, seen }
}

const notes = (count: number) => Array.from({ length: count }, (_, index) => note(`m${index}`))

test('a batch claims while another one calls its handlers, and calls its own when that has returned', async () => {
  const { app, clock, transport, seen } = openTurns(50)
  transport.send(notes(16))
  await app.start()
  await clock.advance(0)
  expect(seen.toSorted()).toEqual(['called', 'claimed', 'claimed'])
  await clock.advance(50)
  expect(seen.slice(3)).toEqual(['returned', 'called', 'committed'])
  await clock.advance(50)
  expect(seen.slice(6)).toEqual(['returned', 'committed'])
  expect(transport.settled()).toHaveLength(16)
})

test('those that take far too long keep nobody waiting', async () => {
  const { app, clock, transport, seen } = openTurns(8_000)
  transport.send(notes(32))
  await app.start()
  const called = () => seen.filter((what) => what === 'called').length
  await clock.advance(0)
  expect(called()).toBe(1)
  for (let passed = 0; passed < 5_000; passed += 100) await clock.advance(100)
  expect(called()).toBe(4)
  for (let passed = 0; passed < 8_000; passed += 1_000) await clock.advance(1_000)
  expect(transport.settled()).toHaveLength(32)
})
