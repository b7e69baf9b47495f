import { expect, test } from 'vitest'
import { later, note, write } from '../../../test/app/open-app.ts'
import { openEngine } from '../../../test/app/open-engine.ts'
import { MemoryDatabase, memoryStore } from '../../stores/memory/index.ts'

test('more messages than a transaction may have parts still share one after a failure', async () => {
  const database = new MemoryDatabase()
  const store = { ...memoryStore({ database }), capabilities: { revocable: true, connections: 10 } }
  const { on, handle, effects, eventsOf } = openEngine({ database, store })
  const runs = new Map<string, number>()
  on('note.created', { name: 'tag-note', ...later }, ({ id }, { tx }) => {
    runs.set(id, (runs.get(id) ?? 0) + 1)
    write(tx, id)
    if (id === 'm100') throw new Error('poison')
  })
  await handle(...Array.from({ length: 150 }, (_, index) => note(`m${index}`)))
  expect(Object.keys(effects())).toHaveLength(149)
  // The batch; alone the culprit has a part.
  expect(eventsOf('rolled-back').map(({ messages }) => messages)).toEqual([150])
  // Those before the culprit once more without it; the culprit once more alone.
  expect(Math.max(...runs.values())).toBe(2)
})

test('where others write, too, a transaction has no more parts than a Postgres session remembers', async () => {
  const database = new MemoryDatabase()
  const memory = memoryStore({ database })
  const counts = new Map<unknown, number>()
  const next: typeof memory.parts.next = (tx) => {
    counts.set(tx, (counts.get(tx) ?? 0) + 1)
    return memory.parts.next(tx)
  }
  const capabilities = { revocable: true, connections: 10 }
  const store = { ...memory, parts: { ...memory.parts, next }, capabilities }
  const { on, handle, effects, events } = openEngine({ database, store })
  on('note.created', { name: 'tag-note', breaker: false, ...later }, ({ id }, { tx }) => {
    write(tx, id)
    if (id.endsWith('7')) throw new Error('poison')
  })
  for (const round of [1, 2, 3]) {
    await handle(...Array.from({ length: 400 }, (_, index) => note(`${round} ${index}`)))
    expect(Object.keys(effects())).toHaveLength(360 * round)
  }
  expect(events.filter(({ kind }) => kind === 'parked')).toHaveLength(120)
  expect(counts.size).toBeGreaterThan(0)
  // Of more subtransactions than 64 the others have to look up the state, row by row.
  expect(Math.max(...counts.values())).toBeLessThanOrEqual(64)
})

test('where there is one writer a transaction may have as many parts as there are failures', async () => {
  const { on, handle, effects, eventsOf } = openEngine()
  on('note.created', { name: 'tag-note', breaker: false, ...later }, ({ id }, { tx }) => {
    write(tx, id)
    if (id.endsWith('7')) throw new Error('poison')
  })
  await handle(...Array.from({ length: 400 }, (_, index) => note(`m${index}`)))
  expect(Object.keys(effects())).toHaveLength(360)
  // The first failure undoes all of it; of the others each undoes its part, and then another one, alone.
  expect(eventsOf('rolled-back').map(({ messages }) => messages)).toEqual([400])
})

test('a part that was rolled back is the part of the next calls', async () => {
  const memory = memoryStore()
  const boundaries: string[] = []
  const parts: typeof memory.parts = {
    next: (tx) => {
      boundaries.push('next')
      return memory.parts.next(tx)
    },
    undo: (tx) => {
      boundaries.push('undo')
      return memory.parts.undo(tx)
    },
  }
  const { on, handle } = openEngine({ store: { ...memory, parts } })
  const ran: string[] = []
  on('note.created', { name: 'tag-note', ...later }, ({ id }) => {
    ran.push(id)
    if (id.startsWith('m2')) throw new Error('poison')
  })
  await handle(note('m1'), note('m2'), note('m3'), note('m2b'), note('m4'))
  // All without parts; the culprit alone; the rest in one part; who was before the next culprit; who comes after; it alone.
  expect(ran).toEqual(['m1', 'm2', 'm2', 'm1', 'm3', 'm2b', 'm1', 'm3', 'm4', 'm2b'])
  expect(boundaries.join(' ')).toBe('next undo next undo next next next undo')
})
