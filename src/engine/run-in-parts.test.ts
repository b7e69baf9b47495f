import { expect, test } from 'vitest'
import { later, note, write } from '../../test/app/open-app.ts'
import { openEngine } from '../../test/app/open-engine.ts'

test('more messages than a transaction may have parts still share one after a failure', async () => {
  const { on, handle, effects, eventsOf } = openEngine()
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
