import { expect, test } from 'vitest'
import { memoryStore } from '../stores/memory/index.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import { HealthWatch } from './health.ts'

test('what cannot be read is told for a minute, whichever way it shows; other notices and destinations are not', async () => {
  const clock = fakeClock()
  const watch = new HealthWatch(memoryStore() as never, clock, [{ name: 'notes' }, { name: 'orders' }])
  const notice = (transport: string, code: string) =>
    watch.heard({ kind: 'transport-notice', transport, code, message: `${code} of ${transport}` } as never)
  notice('notes', 'PARTITIONS_CHANGED')
  notice('invoices', 'BROKER_UNREACHABLE')
  expect(watch.failing).toEqual([])
  notice('notes', 'BROKER_UNREACHABLE')
  watch.heard({ kind: 'loop-failed', loop: 'intake of orders', error: new Error('no queue') })
  expect(watch.failing).toEqual([
    { name: 'notes', message: 'BROKER_UNREACHABLE of notes' },
    { name: 'orders', message: 'no queue' },
  ])
  await clock.advance(61_000)
  expect(watch.failing).toEqual([])
})
