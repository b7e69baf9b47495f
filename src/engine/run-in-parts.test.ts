import { expect, test } from 'vitest'
import { later, note, write } from '../../test/app/open-app.ts'
import { openEngine } from '../../test/app/open-engine.ts'
import { MemoryDatabase, memoryStore } from '../stores/memory/index.ts'

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
  expect(eventsOf('undone').map(({ reason }) => reason)).toEqual(['failure'])
  // Once with all the others, once in a part; those that shared the culprit's part once more.
  expect(Math.max(...runs.values())).toBe(3)
})

test('where there is one writer a transaction may have as many parts as there are failures', async () => {
  const { on, handle, effects, eventsOf } = openEngine()
  on('note.created', { name: 'tag-note', ...later }, ({ id }, { tx }) => {
    write(tx, id)
    if (id.endsWith('7')) throw new Error('poison')
  })
  await handle(...Array.from({ length: 400 }, (_, index) => note(`m${index}`)))
  expect(Object.keys(effects())).toHaveLength(360)
  expect(eventsOf('undone')).toHaveLength(1)
})

test('a part that was undone is the part of the next calls', async () => {
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
    if (id === 'm2') throw new Error('poison')
  })
  await handle(note('m1'), note('m2'), note('m3'))
  // All without parts; all in one part; who was before the culprit; the culprit; who comes after.
  expect(ran).toEqual(['m1', 'm2', 'm1', 'm2', 'm1', 'm2', 'm3'])
  expect(boundaries).toEqual(['next', 'undo', 'next', 'undo', 'next'])
})
