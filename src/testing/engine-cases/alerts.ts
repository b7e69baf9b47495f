import assert from 'node:assert/strict'
import type { AlertOptions } from '../../alerts/index.ts'
import { justonce } from '../../app/justonce.ts'
import { operations } from '../../operations/index.ts'
import type { StoreCase } from '../store-case.ts'
import { eventually } from '../waiting.ts'
import { type Bench, engineCase, note } from './bench.ts'

/** Ten processes that only look at the rules; the calls of webhooks wait in the store. */
async function untilTold({ store, rival }: Bench, alerts: readonly AlertOptions[], isTold: () => Promise<boolean>) {
  const apps = Array.from({ length: 10 }, (_, number) =>
    justonce({ store: number % 2 === 0 ? store : rival, only: 'maintenance', alerts, log: false, heartbeat: false }),
  )
  await Promise.all(apps.map((app) => app.start()))
  await eventually(async () => ((await isTold()) ? true : undefined), 'the notices')
  await Promise.all(apps.map((app) => app.stop()))
}

export const alertCases: readonly StoreCase[] = [
  engineCase({
    name: 'alerts: ten processes tell once of each beginning and each end, also after all of them were restarted',
    async run(bench) {
      const { app: notes, handle, stop } = bench.app()
      notes.on('note.created', { name: 'tag-note', retry: { attempts: 1 } }, () => Promise.reject(new Error('no')))
      await handle(note('m1'))
      await stop()
      const told: string[] = []
      const rule = { when: 'dead-letters', over: 0 } as const
      const alerts: readonly AlertOptions[] = [
        { ...rule, notify: ({ state, value }) => void told.push(`${state} ${value}`) },
        { ...rule, name: 'webhook', notify: { webhook: 'http://localhost:9/alerts' } },
      ]
      const { letters, intents } = operations(bench.store)
      const sent = async () => (await intents.list()).map(({ payload }) => (payload as { state: string }).state)
      await untilTold(bench, alerts, async () => told.length > 0 && (await sent()).length > 0)
      await letters.discard('all', { by: 'ana', why: 'nobody wants it' })
      await untilTold(bench, alerts, async () => told.length > 1 && (await sent()).length > 1)
      assert.deepEqual(told, ['firing 1', 'resolved 0'])
      assert.deepEqual((await sent()).toSorted(), ['firing', 'resolved'])
    },
  }),
]
