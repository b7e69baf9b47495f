import type { Pool, PoolClient } from 'pg'
import type { Delivery, IncomingMessage, Transport } from '../../src/contracts/index.ts'
import { applyTransfer } from './effect.ts'
import type { Transfer } from './workload.ts'

export interface PlainConsumer {
  stop(): Promise<void>
}

export type Handle = (client: PoolClient, message: IncomingMessage) => Promise<void>

/** Without any protection: a duplicate takes effect again. */
export const bare: Handle = async (client, message) => {
  await applyTransfer(client, message.id as string, decode(message))
}

/** As it is usually written: look, and if it is not there do it and write it down. */
export const checkThenInsert: Handle = async (client, message) => {
  const seen = await client.query({
    name: 'bench-seen',
    text: 'SELECT 1 FROM processed WHERE message_id = $1',
    values: [message.id],
  })
  if (seen.rowCount !== 0) return
  await applyTransfer(client, message.id as string, decode(message))
  await client.query({
    name: 'bench-processed',
    text: 'INSERT INTO processed (message_id) VALUES ($1)',
    values: [message.id],
  })
}

/** The best that is written by hand: the claim comes first, so that a rival waits for it and no unique key is ever violated. */
export const insertFirst: Handle = async (client, message) => {
  if (await isClaimed(client, message)) await applyTransfer(client, message.id as string, decode(message))
}

/** The same for a result that a duplicate is to get again. */
export const insertFirstKeepResult: Handle = async (client, message) => {
  if (!(await isClaimed(client, message))) return
  await applyTransfer(client, message.id as string, decode(message))
  await client.query({
    name: 'bench-result',
    text: 'UPDATE processed SET result = $2 WHERE message_id = $1',
    values: [message.id, JSON.stringify(resultOf(message))],
  })
}

async function isClaimed(client: PoolClient, message: IncomingMessage): Promise<boolean> {
  const { rowCount } = await client.query({
    name: 'bench-claim',
    text: 'INSERT INTO processed (message_id) VALUES ($1) ON CONFLICT DO NOTHING',
    values: [message.id],
  })
  return rowCount !== 0
}

export function resultOf(message: IncomingMessage): unknown {
  return { applied: decode(message) }
}

/** What a careful application does without a library: so many loops, each with one message and one transaction at a time. */
export function startPlainConsumer(
  transport: Transport,
  { pool, handle, ...options }: LoopOptions & { readonly pool: Pool; readonly handle: Handle },
): PlainConsumer {
  return startLoops(transport, options, async (message) => {
    const client = await pool.connect()
    try {
      await client.query('BEGIN')
      await handle(client, message)
      await client.query('COMMIT')
    } catch (error) {
      await client.query('ROLLBACK')
      throw error
    } finally {
      client.release()
    }
  })
}

export interface LoopOptions {
  readonly concurrency: number
  readonly maxInFlight: number
}

/** So many loops that take one message after another; one that fails is delivered again. */
export function startLoops(
  transport: Transport,
  { concurrency, maxInFlight }: LoopOptions,
  handle: (message: IncomingMessage) => Promise<void>,
): PlainConsumer {
  const stopping = new AbortController()
  const queue: Delivery[] = []
  const idle: (() => void)[] = []

  async function intake(): Promise<void> {
    for await (const deliveries of transport.deliveries({ signal: stopping.signal, maxInFlight })) {
      for (const delivery of deliveries) queue.push(delivery)
      for (const wake of idle.splice(0)) wake()
    }
    for (const wake of idle.splice(0)) wake()
  }

  async function work(): Promise<void> {
    while (!stopping.signal.aborted) {
      const delivery = queue.shift()
      if (delivery === undefined) await new Promise<void>((resolve) => idle.push(resolve))
      else await handleOne(delivery)
    }
  }

  async function handleOne(delivery: Delivery): Promise<void> {
    let done = false
    try {
      await handle(delivery.message)
      done = true
    } catch {
      // Rolled back, and tried again.
    }
    await transport.settle([delivery], { kind: done ? 'done' : 'release' })
  }

  const running = [intake(), ...Array.from({ length: concurrency }, work)]
  return {
    async stop() {
      stopping.abort()
      for (const wake of idle.splice(0)) wake()
      await Promise.all(running)
    },
  }
}

const decoder = new TextDecoder()

export function decode(message: IncomingMessage): Transfer {
  return JSON.parse(decoder.decode(message.body)) as Transfer
}
