import type { Delivery, Settlement, Transport } from '../../../src/contracts/index.ts'
import { Link, type Network } from '../link.ts'
import type { SimProcess } from '../process.ts'
import type { Scenario } from '../scenario.ts'
import type { BrokerSession, Queued, SimBroker } from './sim-broker.ts'
import { publishTo } from './sim-publish.ts'
import { watchHeartbeat } from './watch-heartbeat.ts'

interface SimReceipt {
  readonly queued: Queued
  readonly connection: object
}

/** A transport to the simulated broker for one process: reconnects by itself, keeps deliveries to their connection. */
export function simTransport(
  process: SimProcess,
  broker: SimBroker,
  network: Network,
  { tells, ageMs }: Pick<Scenario, 'tells' | 'ageMs'>,
): Transport {
  const { scheduler } = network
  let current: { link: Link; session: BrokerSession } | undefined

  function connect(prefetch: number, arrive: (queued: Queued) => void): void {
    const link = new Link(process, network)
    let lastArrival = 0
    const session: BrokerSession = {
      prefetch,
      unsettled: new Set(),
      deliver(queued) {
        const arrivesAt = scheduler.now + scheduler.random.between(1, 5)
        // What is kept in order must not overtake on the way.
        lastArrival = broker.order === 'keep' ? Math.max(lastArrival, arrivesAt) : arrivesAt
        scheduler.after(lastArrival - scheduler.now, () => link.isLost || arrive(queued), process)
      },
      lose: (why) => link.lose(why),
    }
    link.onLost(() => broker.disconnect(session))
    broker.connect(session)
    current = { link, session }
    watchHeartbeat(process, link, scheduler)
  }

  return {
    name: 'simulated',
    destination: 'simulated elsewhere',
    capabilities: {
      order: broker.order === 'keep' ? 'key' : 'none',
      deliveryCount: tells,
    },
    ...(ageMs !== undefined && { inFlight: { ageMs } }),
    async *deliveries({ signal, maxInFlight, connected }) {
      connected?.()
      let arrived: Delivery[] = []
      let wake = () => {}
      signal.addEventListener('abort', () => wake())
      while (!signal.aborted) {
        // The dead do not connect again.
        if (!process.isAlive) await new Promise(() => {})
        if (current === undefined || current.link.isLost) {
          arrived = []
          if (broker.isDown) await process.clock.sleep(500, signal)
          else {
            const connection = {}
            const over = new AbortController()
            let since = 0
            connect(maxInFlight, (queued) => {
              // Where the broker does not tell, whatever may have lain with a dead process is suspect.
              const isSuspect = tells === 'none' && since++ < maxInFlight
              arrived.push({ ...toDelivery(queued, connection, tells, isSuspect), ended: over.signal })
              wake()
            })
            connections.set(connection, current as NonNullable<typeof current>)
            current?.link.onLost(() => {
              over.abort()
              wake()
            })
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
      const receipts = deliveries.map(({ receipt }) => receipt as SimReceipt)
      const mine = receipts.filter(({ connection }) => connections.get(connection) === current)
      if (mine.length === 0 || current === undefined || current.link.isLost) return
      const { link, session } = current
      const queued = mine.map((receipt) => receipt.queued)
      await link.call(steps[settlement.kind], () => {
        if (settlement.kind === 'done') broker.acknowledge(session, queued)
        else broker.giveBack(session, queued)
      })
    },
    publish: (messages) => publishTo(broker, process, network, messages),
    async close() {
      current?.link.lose('closed')
    },
  }
}

const steps: Record<Settlement['kind'], string> = { done: 'ack', release: 'release' }

const connections = new WeakMap<object, object>()

function toDelivery(
  queued: Queued,
  connection: object,
  tells: 'count' | 'flag' | 'none',
  isSuspect: boolean,
): Delivery {
  const receipt: SimReceipt = { queued, connection }
  return {
    message: queued.message,
    receipt,
    count: tells === 'count' ? queued.deliveries : undefined,
    redelivered: tells === 'none' ? isSuspect : queued.deliveries > 1,
  }
}
