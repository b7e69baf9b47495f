import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { serveDashboard } from '../../dashboard/index.ts'
import { operations } from '../../operations/index.ts'
import { jsonOf } from '../output/wording.ts'
import type { Terminal } from '../terminal.ts'
import { countBookings, openShop, prepareShop, type Shop, sendPayment } from './shop.ts'
import { Worker } from './worker.ts'

export interface Demonstration {
  readonly messages: number
  readonly kills: number
  readonly isJson: boolean
  /** The dashboard is opened, and stays open. */
  readonly stays: boolean
  readonly port: number
}

export async function demonstrate(
  { messages, kills, isJson, stays, port }: Demonstration,
  terminal: Terminal,
): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'justonce-demo-'))
  const path = join(folder, 'demo.db')
  const shop = openShop(path)
  const worker = new Worker(path)
  const stopping = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stopping.abort())
  try {
    await prepareShop(shop)
    const server = stays ? await serveDashboard(operations(shop.store), { port, by: 'you' }) : undefined
    if (server !== undefined) terminal.out.write(`Watch it live: ${server.url}\n`)
    worker.start()
    const result = await compare(shop, worker, { messages, kills, signal: stopping.signal })
    terminal.out.write(isJson ? jsonOf(result) : textOf(result))
    if (stays) await keepGoing(shop, worker, { from: messages, terminal, signal: stopping.signal })
    await server?.close()
    return result.lost + result.doubled === 0 ? 0 : 1
  } finally {
    await worker.end()
    await shop.store.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The other process: an app like any other. */
export async function work(path: string): Promise<number> {
  await openShop(path).app.start()
  return await new Promise(() => {})
}

interface Wanted {
  readonly messages: number
  readonly kills: number
  readonly signal: AbortSignal
}

async function compare(shop: Shop, worker: Worker, { messages, kills, signal }: Wanted) {
  let deliveries = 0
  for (let number = 1; number <= messages; number++) deliveries += await sendPayment(shop, number)
  const expected = messages - Math.floor(messages / 50)
  let killed = 0
  let done = await countBookings(shop)
  while (!signal.aborted && (killed < kills || done.payments < expected || (await isWaiting(shop)))) {
    // At even distances, while there is something to do.
    if (killed < kills && done.payments >= ((killed + 1) * expected) / (kills + 1)) {
      worker.kill()
      killed++
    }
    await pause(20)
    done = await countBookings(shop)
  }
  const dead = (await operations(shop.store).overview({ minutes: 0 })).parked.dead
  const lost = signal.aborted ? 0 : expected - done.payments
  return {
    payments: messages,
    deliveries,
    killed,
    booked: done.bookings,
    dead,
    lost,
    doubled: done.bookings - done.payments,
  }
}

async function isWaiting({ store }: Shop): Promise<boolean> {
  const { ready, hidden } = await store.queue.count('payments')
  return ready + hidden > 0
}

async function keepGoing(
  shop: Shop,
  worker: Worker,
  { from, terminal, signal }: { readonly from: number; readonly terminal: Terminal; readonly signal: AbortSignal },
): Promise<void> {
  terminal.out.write('The dashboard stays open, and payments keep coming. Ctrl-C ends it.\n')
  for (let number = from + 1; !signal.aborted; number++) {
    await sendPayment(shop, number)
    if (number % 150 === 0) worker.kill()
    await pause(100, undefined, { signal }).catch(() => {})
  }
}

function textOf(result: Awaited<ReturnType<typeof compare>>): string {
  const { payments, deliveries, killed, booked, dead, lost, doubled } = result
  return `${payments} payments were sent, ${deliveries - payments} of them twice. The process that books them was killed ${killed} times.
Booked: ${booked}. Dead letters, because nobody can book an empty payment: ${dead}. Lost: ${lost}. Booked twice: ${doubled}.
`
}
