import type { Delivery, Transport } from '../../../src/contracts/index.ts'
import { SimError } from '../database/sim-error.ts'
import { Link, type Network } from '../link.ts'
import type { SimProcess } from '../process.ts'
import type { BrokerSession, Queued, SimBroker } from './sim-broker.ts'

/** A broker notices a silent client by missed heartbeats. */
const heartbeatMs = 15_000

interface SimDelivery extends Delivery {
  readonly queued: Queued
  readonly incarnation: object
}

/** A transport to the simulated broker for one process: reconnects by itself, keeps deliveries to their connection. */
export function simTransport(
  process: SimProcess,
  broker: SimBroker,
  network: Network,
  tells: 'count' | 'flag' | 'none',
): Transport {
  const { scheduler } = network
  let current: { link: Link; session: BrokerSession } | undefined

  function connect(prefetch: number, arrive: (queued: Queued) => void): void {
    const link = new Link(process, network)
    const session: BrokerSession = {
      prefetch,
      unsettled: new Set(),
      deliver: (queued) =>
        scheduler.after(scheduler.random.between(1, 5), () => link.isLost || arrive(queued), process),
      lose: (why) => link.lose(why),
    }
    link.onLost(() => broker.disconnect(session))
    broker.connect(session)
    current = { link, session }
    watchHeartbeat(link)
  }

  function watchHeartbeat(link: Link): void {
    if (link.isLost) return
    if (process.isAlive && !process.isPaused) scheduler.after(heartbeatMs, () => watchHeartbeat(link))
    else
      scheduler.after(heartbeatMs, () =>
        process.isAlive && !process.isPaused ? watchHeartbeat(link) : link.lose('missed heartbeats'),
      )
  }

  return {
    name: 'simulated',
    capabilities: { order: 'none', deliveryCount: tells },
    async *deliveries({ signal, maxInFlight }) {
      let arrived: Delivery[] = []
      let wake = () => {}
      signal.addEventListener('abort', () => wake())
      while (!signal.aborted) {
        if (current === undefined || current.link.isLost) {
          arrived = []
          if (broker.isDown) await process.clock.sleep(500, signal)
          else {
            const incarnation = {}
            connect(maxInFlight, (queued) => {
              arrived.push(toDelivery(queued, incarnation, tells))
              wake()
            })
            incarnations.set(incarnation, current as NonNullable<typeof current>)
            current?.link.onLost(() => wake())
          }
          continue
        }
        if (arrived.length === 0) {
          await new Promise<void>((resolve) => {
            wake = resolve
          })
          continue
        }
        yield arrived.splice(0)
      }
    },
    async settle(deliveries, settlement) {
      const mine = (deliveries as SimDelivery[]).filter(({ incarnation }) => incarnations.get(incarnation) === current)
      if (mine.length === 0 || current === undefined || current.link.isLost) return
      const { link, session } = current
      const queued = mine.map((delivery) => delivery.queued)
      await link.call(settlement.kind === 'done' ? 'ack' : 'release', () =>
        settlement.kind === 'done' ? broker.acknowledge(session, queued) : broker.giveBack(session, queued),
      )
    },
    async publish(messages) {
      if (broker.isDown) throw new SimError('connection-lost', 'the broker is down')
      const link = new Link(process, network)
      try {
        return await link.call('publish', () =>
          messages.map((message) => {
            const known = broker.published.get(message.id)
            if (known === undefined) broker.published.set(message.id, { count: 1, message })
            else known.count++
            return { kind: 'sent' as const }
          }),
        )
      } finally {
        link.lose('closed')
      }
    },
    async close() {
      current?.link.lose('closed')
    },
  }
}

const incarnations = new WeakMap<object, object>()

function toDelivery(queued: Queued, incarnation: object, tells: 'count' | 'flag' | 'none'): SimDelivery {
  return {
    message: queued.message,
    queued,
    incarnation,
    count: tells === 'count' ? queued.deliveries : undefined,
    redelivered: tells === 'none' ? undefined : queued.deliveries > 1,
  }
}
