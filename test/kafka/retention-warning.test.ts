import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { JustonceEvent, Transport } from '../../src/contracts/index.ts'
import { justonce } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { requireServer } from '../servers/require.ts'
import { type ChosenOptions, openTopic } from './open-kafka.ts'

vi.setConfig({ testTimeout: 60_000 })
const kafka = await requireServer('kafka')
const aDay = 86_400_000

type Warning = Extract<JustonceEvent, { kind: 'warning' }>

/** An app that has asked its transport, and been answered, and what it has said of it. */
async function warningsOf({ topicDays, days, ...options }: ChosenOptions & { topicDays: number; days: number }) {
  const topic = await openTopic(kafka.url, { partitions: 1, configs: { 'retention.ms': String(topicDays * aDay) } })
  const transport = topic.connect(options)
  const asked: Promise<number | undefined>[] = []
  const watched: Transport = {
    ...transport,
    redeliversForMs() {
      const answer = transport.redeliversForMs?.() ?? Promise.resolve(undefined)
      asked.push(answer)
      return answer
    },
  }
  const app = justonce({ store: memoryStore(), transport: watched, ids: 'uuidv7', retention: { days } })
  const warnings: Warning[] = []
  app.events.listen((event) => void (event.kind === 'warning' && warnings.push(event)))
  app.on('note.created', 'tag-note', () => {})
  onTestFinished(async () => {
    await app.stop()
    await topic.close()
  })
  await app.start()
  const answers = await Promise.all(asked)
  return { name: transport.name, answers, warnings }
}

describe.skipIf(!kafka.available)('a topic and the records of its messages', () => {
  test('records that are removed before the topic removes the messages are warned of, once', async () => {
    const { name, warnings } = await warningsOf({ topicDays: 30, days: 7 })
    expect(warnings).toMatchObject([{ code: 'RETENTION_TOO_SHORT' }])
    expect(warnings[0]?.message).toContain(`${name} may redeliver for 30 days, records are kept for 7 days.`)
  })

  test('records that outlive the messages are not', async () => {
    const { answers, warnings } = await warningsOf({ topicDays: 30, days: 31 })
    expect([answers, warnings]).toEqual([[30 * aDay], []])
  })

  test.each(['position', 'both'] as const)('where copies are known by %s nothing is asked', async (dedup) => {
    const { answers, warnings } = await warningsOf({ topicDays: 30, days: 7, dedup })
    expect([answers, warnings]).toEqual([[], []])
  })
})
