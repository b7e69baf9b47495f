import type { IncomingMessage } from '../../src/contracts/index.ts'
import { packMessage } from '../../src/encoding/packed-message.ts'
import { ServerTransaction } from './database/server-transaction.ts'
import type { SimDatabase } from './database/sim-database.ts'
import { callFaults } from './faults.ts'
import { Random } from './random.ts'
import { replays } from './restored.ts'
import type { Scenario } from './scenario.ts'
import { newQueueRow, queueTable } from './store/queue.ts'

/** The queue of the app, in its own database. */
export const queueName = 'sim'

/** What is in the database beside each message that was sent to it: a restored backup knows only what it has sent itself. */
const sentTable = 'sent'

/** A producer that could not reach the database tries again. */
const againMs = 100

/** What only happens where the database is the queue, or matters more there. */
const steps = ['take-queued', 'take-queued', 'remove-queued', 'hide', 'hide', 'give-back', 'send', 'commit'] as const

/**
 * The same world with the database itself as the queue: there is no other broker but the one that the last message of a chain
 * goes to. Often a message is hidden for less time than a process can be frozen, so that another takes it over.
 */
export function inside(scenario: Scenario): Scenario {
  // Of its own: what is drawn here must not change what worlds are like without it.
  const random = new Random(scenario.seed * 69_621 + 17)
  const more = Array.from({ length: random.pick([0, 1, 3]) }, () => ({
    nth: random.below(random.pick([1, 4, 20])),
    step: random.pick(steps),
    fault: random.pick(callFaults),
  }))
  return {
    ...scenario,
    shape: 'database',
    order: 'keep',
    visibilityMs: random.pick([1_000, 5_000, 30_000]),
    faults: [...scenario.faults, ...more],
  }
}

/**
 * The same world with a backup that is restored while processes hold messages of its queue. Some producers send again what they
 * have sent, others do not: then what was sent after the backup has never been, and whatever the backup brings back is there to
 * be handled once.
 */
export function restoredInside({ mendedAt, deployAt, ...scenario }: Scenario): Scenario {
  const random = new Random(scenario.seed * 69_069 + 19)
  const backUpAt = random.between(1, 2_500)
  const at = backUpAt + random.between(1, random.pick([200, 2_000]))
  const ms = random.between(100, random.pick([1_500, 6_000]))
  const sendsAgain = random.pick([0, 0.5, 1])
  const messages = scenario.messages.map((message) => {
    const again = random.chance(sendsAgain) ? replays(random).map((later) => at + ms + later) : []
    // Just before, so that somebody has it in hand then.
    const sentAt = random.chance(0.4) ? [Math.max(0, at - random.below(60))] : message.sentAt
    return { ...message, sentAt: [...sentAt, ...again] }
  })
  return { ...scenario, messages, restore: { backUpAt, at, ms } }
}

/** As a producer does it that has the database and nothing else: when it is away, again and again until it is back. */
export function sendInside(database: SimDatabase, message: IncomingMessage): void {
  if (database.isDown) {
    database.scheduler.after(againMs, () => sendInside(database, message))
    return
  }
  const { ticket, row } = newQueueRow(database, queueName, { key: message.key, message: packMessage(message) })
  const transaction = new ServerTransaction(database.scheduler.now)
  transaction.write(`${queueTable}\0${ticket}`, row)
  const { id = '' } = message
  if (firstSentInside(database, id) === undefined) transaction.write(`${sentTable}\0${id}`, { sequence: row.sequence })
  database.commit(transaction)
}

/** The place of a message among all that were sent, in the history that the database knows. */
export function firstSentInside(database: SimDatabase, id: string): number | undefined {
  return database.read(undefined, sentTable, id)?.sequence as number | undefined
}
