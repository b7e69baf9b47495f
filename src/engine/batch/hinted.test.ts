import { expect, test, vi } from 'vitest'
import { note, write } from '../../../test/app/open-app.ts'
import { openEngine } from '../../../test/app/open-engine.ts'
import type { ClaimRequest, Hints } from '../../contracts/index.ts'
import { MemoryDatabase } from '../../stores/memory/index.ts'
import { fakeClock } from '../../testing/fake-clock.ts'

/** An engine with hints that say yes to the given keys. */
function openHinted(yes: readonly string[] = [], answer?: Hints['known']) {
  const clock = fakeClock()
  const database = new MemoryDatabase({ clock })
  const asked: string[] = []
  const told: string[] = []
  const name = (epoch: string) => (request: ClaimRequest) => `${request.handler} ${request.key} ${epoch}`
  const hints: Hints = {
    async known(requests, epoch) {
      asked.push(...requests.map(name(epoch)))
      return answer ? await answer(requests, epoch) : requests.map(({ key }) => yes.includes(key))
    },
    committed: (requests, epoch) => void told.push(...requests.map(name(epoch))),
  }
  const engine = openEngine({ clock, database, hints })
  return { ...engine, clock, asked, told, named: (id: string) => `tag-note ${id} ${database.id}.0` }
}

test('what the hints know is acknowledged without being claimed', async () => {
  const { on, handle, acknowledged, database, asked, events, named } = openHinted(['m2'])
  on('note.created', 'tag-note', ({ id }, { tx }) => write(tx, id))
  await handle(note('m1'))
  await handle(note('m2'), note('m3'))
  expect(asked).toEqual([named('m2'), named('m3')])
  expect(acknowledged()).toEqual(['m1', 'm2', 'm3'])
  expect(['m1', 'm2', 'm3'].map((id) => database.committedValue(id))).toEqual([1, undefined, 1])
  expect(events).toContainEqual(expect.objectContaining({ kind: 'duplicate', key: 'm2', from: 'cache' }))
})

test('nobody is asked before a claim has returned the epoch, nor when that was too long ago', async () => {
  const { on, handle, clock, asked, named } = openHinted(['m1', 'm2', 'm3'])
  on('note.created', 'tag-note', ({ id }, { tx }) => write(tx, id))
  await handle(note('m1'))
  expect(asked).toEqual([])
  await clock.advance(1_001)
  await handle(note('m2'))
  expect(asked).toEqual([])
  await handle(note('m3'))
  expect(asked).toEqual([named('m3')])
})

test('a message is known only when all its handlers are, and those without records never', async () => {
  const ran: string[] = []
  const { on, handle, asked, named } = openHinted(['m1', 'm2'])
  on('note.created', 'tag-note', ({ id }) => ran.push(`tag ${id}`))
  on('note.created', { name: 'log-note', delivery: 'at-least-once' }, ({ id }) => ran.push(`log ${id}`))
  await handle(note('m0'))
  await handle(note('m1'))
  expect(asked).toEqual([named('m1')])
  expect(ran).toEqual(['tag m0', 'log m0', 'tag m1', 'log m1'])
})

test('hints that throw when they are told of a commit change nothing about it', async () => {
  const { on, handle, acknowledged, database, engine } = openHinted()
  vi.spyOn(engine.hints as Hints, 'committed').mockImplementation(() => {
    throw new Error('full')
  })
  on('note.created', 'tag-note', ({ id }, { tx }) => write(tx, id))
  const { settled } = await handle(note('m1'))
  expect(settled).toHaveLength(1)
  expect(acknowledged()).toEqual(['m1'])
  expect(database.committedValue('m1')).toBe(1)
})

test('hints that reject, or answer too little, are no hints', async () => {
  for (const answer of [() => Promise.reject(new Error('gone')), async () => []]) {
    const { on, handle, database } = openHinted([], answer)
    on('note.created', 'tag-note', ({ id }, { tx }) => write(tx, id))
    await handle(note('m1'))
    await handle(note('m2'))
    expect(database.committedValue('m2')).toBe(1)
  }
})

test('only what was committed as processed is passed on, be it new or found to be', async () => {
  const { on, handle, told, clock, named } = openHinted()
  on('note.created', { name: 'tag-note', retry: { attempts: 1 } }, ({ id }) => {
    if (id === 'bad') throw new Error('no')
  })
  await handle(note('m1'), note('bad'), note('m2'))
  expect(told).toEqual([named('m1'), named('m2')])
  await clock.advance(61_000)
  await handle(note('m1'), note('bad'))
  expect(told.slice(2)).toEqual([named('m1')])
})
