import { expect, test } from 'vitest'
import { openEngine } from '../../test/app/open-engine.ts'
import type { Delivery } from '../contracts/index.ts'
import { suspectsOf } from '../facts/index.ts'
import { Quarantine } from './quarantine.ts'

function openQuarantine() {
  const opened = openEngine()
  opened.on('note.created', { name: 'tag-note', retry: { attempts: 4 } }, () => {})
  const anew = () => new Quarantine(opened.engine)
  return { ...opened, anew }
}

const delivery = (id: string, redelivered: boolean): Delivery => ({
  message: { id, type: 'note.created', source: 'test', headers: {}, body: new Uint8Array() },
  redelivered,
})

/** What one process makes of it, until it dies. */
async function die(quarantine: Quarantine<never>, ...deliveries: Delivery[]): Promise<string[]> {
  const kinds: string[] = []
  for (const segment of await quarantine.segments(deliveries)) {
    kinds.push(`${segment.kind}: ${segment.deliveries.map(({ message }) => message.id).join(' ')}`)
    await quarantine.run(segment, async () => {})
  }
  return kinds
}

test('first deliveries pay nothing and stay together', async () => {
  const { anew, store } = openQuarantine()
  expect(await die(anew() as never, delivery('m1', false), delivery('m2', false))).toEqual(['fresh: m1 m2'])
  expect(await suspectsOf(store).look(['m1'])).toEqual([0])
})

test('what was with a dead process is tried together once, then each alone, and condemned in the end', async () => {
  const { anew, eventsOf } = openQuarantine()
  const again = () => [delivery('m1', true), delivery('m2', true), delivery('m3', false)] as const
  expect(await die(anew() as never, ...again())).toEqual(['suspect: m1 m2', 'fresh: m3'])
  expect(eventsOf('quarantined')).toEqual([])
  expect(await die(anew() as never, ...again())).toEqual(['alone: m1', 'alone: m2', 'fresh: m3'])
  expect(await die(anew() as never, ...again())).toEqual(['alone: m1', 'alone: m2', 'fresh: m3'])
  expect(await die(anew() as never, ...again())).toEqual(['condemned: m1 m2', 'fresh: m3'])
  expect(eventsOf('quarantined').map(({ deaths }) => deaths)).toEqual([2, 2, 3, 3, 4, 4])
})

test('a process that meets the same delivery several times counts it once', async () => {
  const { anew } = openQuarantine()
  const quarantine = anew() as never
  const m1 = delivery('m1', true)
  for (let tries = 0; tries < 5; tries++) expect(await die(quarantine, m1)).toEqual(['suspect: m1'])
  expect(await die(anew() as never, delivery('m1', true))).toEqual(['alone: m1'])
})

test('one whose turn has not come when another kills is not blamed for it', async () => {
  const { anew } = openQuarantine()
  await die(anew() as never, delivery('m1', true), delivery('m2', true))
  for (let deaths = 0; deaths < 2; deaths++) {
    const quarantine = anew()
    const [first] = await quarantine.segments([delivery('m1', true), delivery('m2', true)])
    await quarantine.run(first as NonNullable<typeof first>, async () => {})
  }
  expect(await die(anew() as never, delivery('m1', true), delivery('m2', true))).toEqual(['condemned: m1', 'alone: m2'])
})

test('what is given back by a process that ends on purpose is not held against it', async () => {
  const { anew } = openQuarantine()
  const quarantine = anew()
  const m1 = delivery('m1', true)
  await die(quarantine as never, m1)
  await quarantine.forgive([m1, delivery('m2', true)])
  expect(await die(anew() as never, delivery('m1', true))).toEqual(['suspect: m1'])
})

test('what is condemned says so', async () => {
  const { anew } = openQuarantine()
  for (let deaths = 0; deaths < 3; deaths++) await die(anew() as never, delivery('m1', true))
  const quarantine = anew()
  const m1 = delivery('m1', true)
  const [segment] = await quarantine.segments([m1])
  await quarantine.run(segment as NonNullable<typeof segment>, async (suspicionOf) => {
    expect(suspicionOf(m1).condemned).toMatchObject({ code: 'PROCESS_DIED', details: { deaths: 4 } })
  })
  expect.assertions(1)
})

test('several copies of a message in one process are one death when it dies', async () => {
  const { anew } = openQuarantine()
  const quarantine = anew() as never
  for (let copies = 0; copies < 4; copies++)
    expect(await die(quarantine, delivery('m1', true))).toEqual(['suspect: m1'])
  expect(await die(anew() as never, delivery('m1', true))).toEqual(['alone: m1'])
})

test('a beginning whose answer is lost is counted once, however often it is tried', async () => {
  const { anew, engine, store } = openQuarantine()
  let lost = 0
  const change: typeof store.facts.change = async (tx, changes) => {
    const revisions = await store.facts.change(tx, changes)
    if (lost++ < 3) throw new Error('connection reset')
    return revisions
  }
  Object.assign(engine, { store: { ...store, facts: { ...store.facts, change } } })
  const quarantine = anew() as never
  const m1 = delivery('m1', true)
  for (let tries = 0; tries < 4; tries++) await die(quarantine, m1).catch(() => {})
  expect(lost).toBeGreaterThan(0)
  lost = 3
  expect(await die(anew() as never, delivery('m1', true))).toEqual(['alone: m1'])
})
