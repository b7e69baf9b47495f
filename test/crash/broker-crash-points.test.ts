import { describe, expect, test } from 'vitest'
import { type CrashPoint, crashPoints } from '../../src/testing/index.ts'
import { requireServer } from '../servers/require.ts'
import type { Broker } from './brokers.ts'
import type { ConsumerChild } from './consumer-child.ts'
import './long-tests.ts'
import { kafkaBroker, rabbitmqBroker } from './real-brokers.ts'
import { exactlyOnce } from './verdict.ts'
import { ids, openWorld } from './world.ts'

const postgres = await requireServer('postgres')
const rabbitmq = await requireServer('rabbitmq')
const kafka = await requireServer('kafka')

type Fate = 'run' | 'duplicate' | 'not delivered'

interface BrokerUnderTest {
  readonly name: string
  readonly isMissing: boolean
  open(): Promise<Broker>
  /** Whether handlers publish, and what follows is another effect. */
  readonly publishes: boolean
  /** What becomes of a message that was committed and not acknowledged, and of one that was. */
  readonly committed: readonly Fate[]
  readonly acknowledged: readonly Fate[]
}

const onRabbitmq: BrokerUnderTest = {
  name: 'RabbitMQ',
  isMissing: !rabbitmq.available,
  open: () => rabbitmqBroker(rabbitmq.url),
  publishes: true,
  committed: ['duplicate'],
  // The client does not wait for an acknowledgement to be sent: it may be lost with the process.
  acknowledged: ['not delivered', 'duplicate'],
}

const onKafka: BrokerUnderTest = {
  name: 'Kafka, known by id',
  isMissing: !kafka.available,
  open: () => kafkaBroker(kafka.url, { dedup: 'id' }),
  publishes: true,
  committed: ['duplicate'],
  acknowledged: ['not delivered'],
}

const byPosition: BrokerUnderTest = {
  ...onKafka,
  name: 'Kafka, known by position',
  open: () => kafkaBroker(kafka.url, { dedup: 'position' }),
  // A relay that dies sends again, and by position alone nobody would know.
  publishes: false,
  // The database says where to go on.
  committed: ['not delivered'],
}

// One batch after the other: what is done is acknowledged at once, and not when those before it are.
const settings = { visibilityMs: 400, batchMax: 3, concurrency: 1 } as const
const patienceMs = 60_000

describe.skipIf(!postgres.available).each([onRabbitmq, onKafka, byPosition])('killed on $name', (broker) => {
  const { publishes, isMissing } = broker
  const parts = publishes ? [1, 2, 3] : [1, 2]

  test.skipIf(isMissing).concurrent.each(crashPoints)('%s: one effect each, and nothing is left', async (point) => {
    await using world = await openWorld({
      acknowledging: 'separate',
      broker: await broker.open(),
      postgresUrl: postgres.url,
    })
    // Not in the first batch, so that some are done, some are running and some wait.
    const message = 'm006'
    await world.send(ids(8))
    const dying = world.start({ ...settings, publishes, stops: [{ point, message, how: 'wait' }] })
    // Not by its own hand: what it has sent to the broker up to here must be on its way, as if it had died a little later.
    const { keys } = await dying.reached(point)
    expect(await dying.kill()).toEqual({ code: null, signal: 'SIGKILL' })
    expect(keys).toContain(message)

    const next = world.start({ ...settings, publishes })
    const isDone = async (): Promise<boolean> => {
      const { lost, torn } = await world.verdict(parts)
      return lost.length + torn.length === 0
    }
    await world.until(isDone, 'Every effect of each', patienceMs)
    await world.untilDrained(patienceMs)
    await world.until(async () => inHand(next) === 0, 'Settling what was delivered', patienceMs)
    await next.stop()
    expect(await world.verdict(parts)).toEqual(exactlyOnce)
    expect(await world.remaining()).toEqual({ queued: 0, outgoing: 0, parked: 0 })
    expect(fatesAfter(point, broker)).toContain(whatBecameOf(message, next))
  })
})

/** The proof that the crash was where its name says. */
function fatesAfter(point: CrashPoint, { committed, acknowledged }: BrokerUnderTest): readonly Fate[] {
  if (point === 'after-ack') return acknowledged
  return point === 'after-commit' ? committed : ['run']
}

function whatBecameOf(message: string, child: ConsumerChild): Fate {
  if (child.all('running').some((event) => event.message === message)) return 'run'
  return child.all('duplicate').some(({ keys }) => keys?.includes(message)) ? 'duplicate' : 'not delivered'
}

/** What a consumer has and has not settled. RabbitMQ does not count it as waiting. */
function inHand(child: ConsumerChild): number {
  const count = (name: string): number => child.all(name).reduce((sum, { keys }) => sum + (keys?.length ?? 0), 0)
  return count('delivered') - count('settled')
}
