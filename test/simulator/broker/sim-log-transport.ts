import type { Delivery, Position, Transport } from '../../../src/contracts/index.ts'
import { SimError } from '../database/sim-error.ts'
import { Link, type Network } from '../link.ts'
import type { SimProcess } from '../process.ts'
import type { LogSession, SimLog } from './sim-log.ts'
import { watchHeartbeat } from './watch-heartbeat.ts'

interface LogDelivery extends Delivery {
  readonly partition: number
  readonly offset: number
  readonly connection: Connection
}

interface Connection {
  readonly link: Link
  readonly session: LogSession
  /** Where each partition goes on being read; those that are still being asked for are not in it. */
  readonly reading: Map<number, number>
  readonly unsettled: Set<LogDelivery>
  /** What was settled out of order, until what is before it is settled, too. */
  readonly settled: Map<number, Set<number>>
}

/** A consumer of the simulated log for one process. */
export function simLogTransport(
  process: SimProcess,
  log: SimLog,
  network: Network,
  dedup: 'id' | 'position' | 'both',
): Transport {
  let current: Connection | undefined
  let wake = () => {}
  const rouse = () => wake()

  function connect(restore: Parameters<Transport['deliveries']>[0]['restore']): Connection {
    const link = new Link(process, network)
    const reading = new Map<number, number>()
    const session: LogSession = {
      partitions: new Set(),
      assigned: (partitions) => void begin(partitions).catch(() => link.lose('cannot restore')),
      lose: (why) => link.lose(why),
    }
    const begin = async (partitions: readonly number[]) => {
      for (const partition of partitions) forget(connection, partition)
      const wanted = partitions.map((partition) => ({ source: 'sim', partition: String(partition) }))
      const stored: readonly (Position | undefined)[] = (await restore?.(wanted)) ?? []
      partitions.forEach((partition, index) => {
        const begins = stored[index] === undefined ? log.partitions[partition]?.committed : Number(stored[index]?.next)
        if (session.partitions.has(partition)) reading.set(partition, begins ?? 0)
      })
      rouse()
    }
    const connection: Connection = { link, session, reading, unsettled: new Set<LogDelivery>(), settled: new Map() }
    link.onLost(() => {
      log.leave(session, rouse)
      rouse()
    })
    log.join(session, rouse)
    watchHeartbeat(process, link, network.scheduler)
    return connection
  }

  function read(connection: Connection, room: number): LogDelivery[] {
    const taken: LogDelivery[] = []
    for (const [partition, offset] of connection.reading) {
      if (!connection.session.partitions.has(partition)) {
        forget(connection, partition)
        continue
      }
      const messages = log.partitions[partition]?.messages.slice(offset, offset + room - taken.length) ?? []
      messages.forEach((message, index) => void taken.push(deliveryOf(connection, partition, offset + index, message)))
      connection.reading.set(partition, offset + messages.length)
    }
    for (const delivery of taken) connection.unsettled.add(delivery)
    return taken
  }

  return {
    name: 'simulated log',
    dedup,
    group: 'sim',
    capabilities: { order: 'lane', deliveryCount: 'none', delayedRetry: false, positions: 'exclusive' },
    async *deliveries({ signal, maxInFlight, restore }) {
      signal.addEventListener('abort', rouse)
      while (!signal.aborted) {
        // The dead do not connect again.
        if (!process.isAlive) await new Promise(() => {})
        if (current === undefined || current.link.isLost) {
          // Not at once: what was lost because the store is away would be lost again.
          if (log.isDown || current?.link.isLost) await process.clock.sleep(500, signal)
          if (!log.isDown && process.isAlive) current = connect(restore)
          continue
        }
        const taken = read(current, maxInFlight - current.unsettled.size)
        if (taken.length > 0) {
          await process.clock.sleep(network.scheduler.random.between(1, 5), signal)
          yield taken
        } else
          await new Promise<void>((resolve) => {
            wake = resolve
          })
      }
    },
    async settle(deliveries, settlement) {
      const connection = current
      if (connection === undefined || connection.link.isLost) return
      const mine = (deliveries as LogDelivery[]).filter((delivery) => connection.unsettled.delete(delivery))
      rouse()
      if (settlement.kind !== 'done' || mine.length === 0) return
      const commits = mine.flatMap((delivery) => watermark(connection, delivery))
      await connection.link.call('ack', () => {
        for (const { partition, next } of commits) log.commit(connection.session, partition, next)
      })
    },
    async publish(messages) {
      if (log.isDown) throw new SimError('connection-lost', 'the broker is down')
      const link = new Link(process, network)
      try {
        return await link.call('publish', () =>
          messages.map((message) => {
            const known = log.published.get(message.id)
            if (known === undefined) log.published.set(message.id, { count: 1, message })
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

  function deliveryOf(
    connection: Connection,
    partition: number,
    offset: number,
    message: Delivery['message'],
  ): LogDelivery {
    const place = { partition: String(partition), next: String(offset + 1), incarnation: 'one' }
    // The log does not say what has been delivered before: whatever is read first may have been.
    return { message, lane: `sim/${partition}`, redelivered: true, place, partition, offset, connection }
  }
}

/** What was read of a partition before it was taken away is nobody's here any longer. */
function forget({ reading, settled, unsettled }: Connection, partition: number): void {
  reading.delete(partition)
  settled.delete(partition)
  for (const delivery of unsettled) if (delivery.partition === partition) unsettled.delete(delivery)
}

/** Commits only what is settled without a gap. */
function watermark(connection: Connection, { partition, offset, connection: own }: LogDelivery) {
  if (own !== connection) return []
  const settled = connection.settled.get(partition) ?? new Set<number>()
  connection.settled.set(partition, settled)
  settled.add(offset)
  const open = [...connection.unsettled].filter((each) => each.partition === partition).map((each) => each.offset)
  const next = Math.min(...open, Math.max(...settled) + 1)
  return [{ partition, next }]
}
