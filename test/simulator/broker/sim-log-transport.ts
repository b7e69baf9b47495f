import type { Delivery, Position, Transport } from '../../../src/contracts/index.ts'
import { Link, type Network } from '../link.ts'
import type { SimProcess } from '../process.ts'
import type { LogPartition, LogSession, SimLog } from './sim-log.ts'
import { publishTo } from './sim-publish.ts'
import { watchHeartbeat } from './watch-heartbeat.ts'

/** How often the store is asked about partitions in which nothing happens. */
const lookMs = 5_000

interface LogReceipt {
  readonly reading: Reading
  readonly offset: number
}

/** A partition from when it was assigned, or had to be read again, until it is given up. */
interface Reading {
  readonly partition: number
  /** Where it goes on; undefined while the store is being asked. */
  offset: number | undefined
  /** Where the last delivery ends. */
  from: Position | undefined
  readonly unsettled: Set<LogReceipt>
  /** What was settled out of order, until what is before it is settled, too. */
  readonly settled: Set<number>
}

interface Connection {
  readonly link: Link
  readonly session: LogSession
  readonly readings: Map<number, Reading>
}

/** A consumer of the simulated log for one process. */
export function simLogTransport(
  process: SimProcess,
  log: SimLog,
  network: Network,
  dedup: 'id' | 'position' | 'both',
): Transport {
  let current: Connection | undefined
  let begin = async (_partitions: readonly number[]): Promise<void> => {}
  let wake = () => {}
  const rouse = () => wake()

  function connect(restore: Parameters<Transport['deliveries']>[0]['restore']): Connection {
    const link = new Link(process, network)
    const session: LogSession = {
      partitions: new Set(),
      assigned: (partitions) => void begin(partitions).catch(() => link.lose('cannot restore')),
      lose: (why) => link.lose(why),
    }
    const connection: Connection = { link, session, readings: new Map() }
    begin = async (partitions) => {
      const readings = partitions.map(newReading)
      for (const reading of readings) connection.readings.set(reading.partition, reading)
      const wanted = partitions.map((partition) => ({ source: 'sim', partition: String(partition) }))
      const stored: readonly (Position | undefined)[] = (await restore?.(wanted)) ?? []
      readings.forEach((reading, index) => {
        const partition = log.partitions[reading.partition] as LogPartition
        // Of what it has forgotten a store says nothing: then it is read again from where it was begun.
        if (restore !== undefined && stored[index] === undefined) partition.since ??= partition.committed
        reading.from = stored[index]
        reading.offset = Number(stored[index]?.next ?? partition.since ?? partition.committed)
      })
      rouse()
    }
    /** Where nothing is read, nobody would notice that the store has gone back. */
    const lookAtStore = async (): Promise<void> => {
      await process.clock.sleep(lookMs)
      if (link.isLost || restore === undefined) return
      const idle = readingsOf(connection).filter(
        ({ offset, unsettled }) => offset !== undefined && unsettled.size === 0,
      )
      const places = idle.map(({ from }) => from)
      const wanted = idle.map(({ partition }) => ({ source: 'sim', partition: String(partition) }))
      const stored = wanted.length === 0 ? [] : await restore(wanted).catch(() => places)
      const ours = new Set(readingsOf(connection))
      const moved = idle.filter(
        (reading, index) =>
          ours.has(reading) && reading.from === places[index] && stored[index]?.next !== reading.from?.next,
      )
      await begin(moved.map(({ partition }) => partition)).catch(() => link.lose('cannot restore'))
      return lookAtStore()
    }
    void lookAtStore()
    link.onLost(() => {
      log.leave(session, rouse)
      rouse()
    })
    log.join(session, rouse)
    watchHeartbeat(process, link, network.scheduler)
    return connection
  }

  /** Of what is assigned now; what was read of a partition before it was taken away is nobody's here any longer. */
  function readingsOf({ readings, session }: Connection): Reading[] {
    for (const partition of readings.keys()) if (!session.partitions.has(partition)) readings.delete(partition)
    return [...readings.values()]
  }

  function read(connection: Connection, maxInFlight: number): Delivery[] {
    const readings = readingsOf(connection)
    const taken: Delivery[] = []
    let room = maxInFlight - readings.reduce((sum, { unsettled }) => sum + unsettled.size, 0)
    for (const reading of readings) {
      const { partition, offset } = reading
      if (offset === undefined || room <= 0) continue
      const messages = log.partitions[partition]?.messages.slice(offset, offset + room) ?? []
      for (const [index, message] of messages.entries()) taken.push(deliveryOf(reading, offset + index, message))
      reading.offset = offset + messages.length
      room -= messages.length
    }
    return taken
  }

  async function reread(deliveries: readonly Delivery[]): Promise<void> {
    const connection = current
    if (connection === undefined || connection.link.isLost) return
    const readings = new Set(readingsOf(connection))
    const given = new Set(deliveries.map(({ receipt }) => (receipt as LogReceipt).reading))
    const overtaken = [...given].filter((reading) => readings.has(reading))
    await begin(overtaken.map(({ partition }) => partition)).catch(() => connection.link.lose('cannot restore'))
  }

  return {
    name: 'simulated log',
    destination: 'simulated elsewhere',
    positions: { group: 'sim', dedup, reread },
    capabilities: { order: 'lane', deliveryCount: 'none' },
    async *deliveries({ signal, maxInFlight, restore, connected }) {
      connected?.()
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
        const taken = read(current, maxInFlight)
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
      const readings = new Set(readingsOf(connection))
      const mine = deliveries
        .map(({ receipt }) => receipt as LogReceipt)
        .filter((receipt) => readings.has(receipt.reading) && receipt.reading.unsettled.delete(receipt))
      rouse()
      if (settlement.kind !== 'done' || mine.length === 0) return
      const commits = mine.map(watermark)
      await connection.link.call('ack', () => {
        for (const { partition, next } of commits) log.commit(connection.session, partition, next)
      })
    },
    publish: (messages) => publishTo(log, process, network, messages),
    async close() {
      current?.link.lose('closed')
    },
  }
}

function newReading(partition: number): Reading {
  return { partition, offset: undefined, from: undefined, unsettled: new Set(), settled: new Set() }
}

function deliveryOf(reading: Reading, offset: number, message: Delivery['message']): Delivery {
  const { partition, from } = reading
  const to = { next: String(offset + 1), incarnation: 'one' }
  reading.from = to
  const place = { partition: String(partition), from, to }
  // The log does not say what has been delivered before: whatever is read first may have been.
  const receipt: LogReceipt = { reading, offset }
  reading.unsettled.add(receipt)
  return { message, lane: `sim/${partition}`, redelivered: true, place, receipt }
}

/** Commits only what is settled without a gap. */
function watermark({ reading, offset }: LogReceipt): { readonly partition: number; readonly next: number } {
  const { partition, settled, unsettled } = reading
  settled.add(offset)
  const open = [...unsettled].map((each) => each.offset)
  return { partition, next: Math.min(...open, Math.max(...settled) + 1) }
}
