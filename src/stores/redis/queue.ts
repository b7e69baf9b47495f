import { longestHiddenMs } from '../../clock/index.ts'
import type { Queue, QueueTicket } from '../../contracts/index.ts'
import { text, texts } from './connection.ts'
import { checkSizes } from './message-limit.ts'
import { countScript, hideScript, listScript, takeScript } from './scripts/queue.ts'
import type { Step } from './transaction.ts'
import type { Transactions } from './transactions.ts'

/** A ticket is the name of the row. There is no `listen`, because a subscription would need a separate connection. */
export function redisQueue<Tx extends object>(transactions: Transactions<Tx>): Queue<Tx> {
  const { connection, factory } = transactions
  // Even a single change is a commit, so a client that repeats it after a lost connection sends no message twice.
  const add = async (tx: Tx | undefined, steps: readonly Step[]): Promise<void> => {
    if (tx === undefined) return transactions.run((own) => add(own, steps))
    const transaction = factory.transactionOf(tx)
    for (const step of steps) transaction.steps.push(step)
  }
  return {
    async send(tx, queue, messages) {
      await checkSizes(
        connection,
        messages.map(({ message }) => message),
      )
      await add(
        tx,
        messages.map((message) => ({ kind: 'send', queue, message })),
      )
    },
    async take(queue, { limit, visibilityMs, maxBytes = Number.MAX_SAFE_INTEGER }) {
      const times = [Math.ceil(visibilityMs), longestHiddenMs(visibilityMs)] as const
      const rows = (await connection.run(takeScript, queue, limit, ...times, maxBytes)) as unknown[][]
      return rows.map(([row, deliveries, envelope, body]) => ({
        ticket: text(row),
        deliveries: Number(deliveries),
        message: { envelope: bytes(envelope), body: bytes(body) },
      }))
    },
    remove(tx, queue, tickets, still) {
      const isTaken = still !== undefined && 'deliveries' in still
      const left = new Set(isTaken ? [] : still?.present)
      const removals = tickets.map((ticket): Step => {
        const isExpected = left.delete(ticket)
        return { kind: 'remove', queue, ticket, still: isTaken ? still.deliveries : isExpected ? 'there' : undefined }
      })
      return add(tx, [...removals, ...[...left].map((ticket): Step => ({ kind: 'expect', queue, ticket }))])
    },
    async hide(queue, taken, visibilityMs, { untaken = false } = {}) {
      if (taken.length === 0) return
      await connection.run(hideScript, queue, Math.ceil(visibilityMs), untaken ? 1 : 0, ...pairs(taken))
    },
    async count(queue) {
      const [all, hidden, oldestMs] = ((await connection.run(countScript, queue)) as unknown[]).map(Number) as [
        number,
        number,
        number,
      ]
      return { ready: all - hidden, hidden, oldestMs: all === 0 ? undefined : oldestMs }
    },
    async list(queue, { limit, after = '0', maxBytes = Number.MAX_SAFE_INTEGER }) {
      const from = after.split(':')[0] as string
      const rows = (await connection.run(listScript, queue, from, limit, maxBytes)) as unknown[][]
      return rows.map(([row, deliveries, envelope, body, sentAt]) => ({
        ticket: text(row),
        deliveries: Number(deliveries),
        message: { envelope: bytes(envelope), body: bytes(body) },
        sentAt: new Date(Number(sentAt)),
      }))
    },
    queues: async () => texts(await connection.call('ZRANGE', `${connection.prefix}queues`, 0, -1)),
  }
}

function pairs(taken: readonly QueueTicket[]): (string | number)[] {
  return taken.flatMap(({ ticket, deliveries }) => [ticket, deliveries])
}

function bytes(value: unknown): Uint8Array {
  return new Uint8Array(Buffer.from(text(value), 'base64'))
}
