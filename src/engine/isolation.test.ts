import { expect, test } from 'vitest'
import { later, note, write } from '../../test/app/open-app.ts'
import { openEngine } from '../../test/app/open-engine.ts'
import { Isolation } from './isolation.ts'

test('all share one part until something fails; then parts are the smaller the more fail, and grow back slowly', () => {
  const isolation = new Isolation(8)
  expect(isolation.partSize).toBe(Number.POSITIVE_INFINITY)
  isolation.succeeded()
  expect(isolation.partSize).toBe(Number.POSITIVE_INFINITY)
  isolation.failed(0.02)
  expect(isolation.partSize).toBe(7)
  isolation.failed(1)
  const sizes = Array.from({ length: 4 }, () => {
    const size = isolation.partSize
    isolation.succeeded()
    return size
  })
  expect(sizes).toEqual([1, 2, 4, Number.POSITIVE_INFINITY])
})

test('it does not grow back while messages go on failing', async () => {
  const { on, handle, engine } = openEngine()
  on('note.created', { name: 'tag-note', ...later }, ({ id }, { tx }) => {
    write(tx, id)
    if (id.startsWith('poison')) throw new Error('poison')
  })
  await handle(note('m1'), note('poison 1'))
  expect(engine.isolation.partSize).toBe(1)
  await handle(note('m2'), note('poison 2'))
  expect(engine.isolation.partSize).toBe(1)
  await handle(note('m3'), note('m4'))
  expect(engine.isolation.partSize).toBe(2)
})
