import type { Parking, Queue, QueuedMessage } from '../../../src/contracts/index.ts'
import { isDelayed, isOutgoing } from '../../../src/encoding/outgoing-queue.ts'
import { packMessage, unpackOutgoing } from '../../../src/encoding/packed-message.ts'
import { uuidv7 } from '../../../src/ids/index.ts'
import { type Environment, type OutgoingProgram, realApp } from '../outgoing/real-app.ts'
import type { SimTx } from '../store/sim-tx.ts'

/** An app whose messages leave in a way that breaks the promise. */
export interface OutgoingExhibit {
  readonly name: string
  readonly flaw: string
  readonly caughtAs:
    | 'MISDIRECTED'
    | 'OVERTAKEN'
    | 'EARLY'
    | 'TWICE'
    | 'CANCELLED'
    | 'TICK'
    | 'LOST'
    | 'MESSAGES'
    | 'STUCK'
  /** It is given worlds in which a backup is restored. */
  readonly isRestored?: boolean
  readonly program: OutgoingProgram
}

export const brokenOutgoing: readonly OutgoingExhibit[] = [
  {
    name: 'relay-forgets-its-destination',
    flaw: 'A relay takes whatever waits in the database, also what another app has published to another destination.',
    caughtAs: 'MISDIRECTED',
    program: onQueue(({ queue: real }) => {
      const homes = new Map<string, string>()
      const homeOf = (ticket: string, queue: string) => homes.get(ticket) ?? queue
      return {
        async take(queue, options) {
          const taken: QueuedMessage[] = []
          for (const each of [queue, ...(await real.queues()).filter(isOutgoing)]) {
            const some = await real.take(each, options)
            for (const { ticket } of some) homes.set(ticket, each)
            taken.push(...some)
          }
          return taken
        },
        async remove(tx, queue, tickets, still) {
          for (const ticket of tickets) await real.remove(tx, homeOf(ticket, queue), [ticket], still)
        },
        async hide(queue, taken, visibilityMs, options) {
          for (const each of taken) await real.hide(homeOf(each.ticket, queue), [each], visibilityMs, options)
        },
      }
    }),
  },
  {
    name: 'relay-sends-out-of-order-after-an-outage',
    flaw: 'What could not be sent is put at the end of its queue: what was published later is sent before it.',
    caughtAs: 'OVERTAKEN',
    program: onQueue(({ queue: real, store }) => {
      const lastTaken = new Map<string, QueuedMessage>()
      return {
        async take(queue, options) {
          const taken = await real.take(queue, options)
          for (const each of taken) lastTaken.set(each.ticket, each)
          return taken
        },
        async hide(queue, taken, visibilityMs, options) {
          if (options?.untaken !== true) return await real.hide(queue, taken, visibilityMs, options)
          const messages = taken.flatMap(({ ticket }) => lastTaken.get(ticket)?.message ?? [])
          await store.transaction(async (tx) => {
            await real.remove(
              tx,
              queue,
              taken.map(({ ticket }) => ticket),
            )
            const again = messages.map((message) => ({ key: unpackOutgoing(message).key, message }))
            await real.send(tx, queue, again)
          })
        },
      }
    }),
  },
  {
    name: 'delay-by-the-clock-of-a-process',
    flaw: 'A process says when a delayed message is due, by its own clock: one whose clock is behind makes it leave too early.',
    caughtAs: 'EARLY',
    program: onParking(({ parking: real, process }) => ({
      park: (tx, rows) =>
        real.park(
          tx,
          rows.map((row) => ({ ...row, dueAt: row.dueAt ?? new Date(process.clock.now().getTime() + row.delayMs) })),
        ),
    })),
  },
  {
    name: 'delayed-message-left-where-it-was',
    flaw: 'A delayed message is put into its queue in one transaction, and removed from where it was a while later: it leaves again.',
    caughtAs: 'TWICE',
    program: onParking(({ parking: real, process, store }) => ({
      async change(tx, changes) {
        if (!changes.every(({ handler, kind }) => kind === 'done' && isDelayed(handler)))
          return await real.change(tx, changes)
        const tidyUp = () => void store.transaction((later) => real.change(later, changes)).catch(() => {})
        process.clock.timer(5_000, tidyUp)
      },
    })),
  },
  {
    name: 'cancel-answers-by-what-it-has-seen',
    flaw: 'It is looked whether a message still waits, and said so, whether or not it could then be removed.',
    caughtAs: 'CANCELLED',
    program: onParking(({ parking: real }) => ({
      async edit(tx, filter, edit, limit) {
        const seen = await real.list(filter, { limit })
        await real.edit(tx, filter, edit, limit)
        return seen
      },
    })),
  },
  {
    name: 'published-in-a-transaction-of-its-own',
    flaw: 'What a transaction publishes is stored in another one: it leaves, although the first is rolled back.',
    caughtAs: 'MESSAGES',
    program: onQueue(({ queue: real }) => ({ send: (_, queue, messages) => real.send(undefined, queue, messages) })),
  },
  {
    name: 'removed-before-it-is-sent',
    flaw: 'A relay removes what it takes, and sends it then: what it holds when it dies is never sent.',
    caughtAs: 'LOST',
    program: onQueue(({ queue: real }) => ({
      async take(queue, options) {
        const taken = await real.take(queue, options)
        await real.remove(
          undefined,
          queue,
          taken.map(({ ticket }) => ticket),
        )
        return taken
      },
    })),
  },
  {
    name: 'hidden-for-ever',
    flaw: 'What a relay takes belongs to it until it says otherwise: when it dies, nobody else ever sends it.',
    caughtAs: 'STUCK',
    program: onQueue(({ queue: real }) => ({
      take: (queue, options) => real.take(queue, { ...options, visibilityMs: 1e12 }),
    })),
  },
  {
    name: 'ticks-with-ids-of-their-own',
    flaw: 'The message of a tick has any id: a tick that is made again after a restore is another message to everybody.',
    caughtAs: 'TICK',
    isRestored: true,
    program: onQueue(({ queue: real }) => ({
      send: (tx, queue, messages) =>
        real.send(
          tx,
          queue,
          messages.map((each) => {
            const outgoing = unpackOutgoing(each.message)
            return outgoing.type.endsWith('.tick')
              ? { ...each, message: packMessage({ ...outgoing, id: uuidv7() }) }
              : each
          }),
        ),
    })),
  },
  {
    name: 'ticks-from-anywhere',
    flaw: 'Nobody looks whether a schedule is still where it was: several processes make a message for the same tick.',
    caughtAs: 'TICK',
    program: (environment) => {
      const { store } = environment
      return realApp({
        ...environment,
        store: {
          ...store,
          facts: {
            ...store.facts,
            async change(tx, changes) {
              const isSchedule = changes.some(({ name }) => name.startsWith('schedule '))
              if (!isSchedule || tx === undefined) return await store.facts.change(tx, changes)
              const known = await store.facts.read(changes.map(({ name }) => name))
              const forced = changes.map((change, index) => ({ ...change, from: known[index]?.revision }))
              return await store.facts.change(tx, forced)
            },
          },
        },
      })
    },
  },
]

function onQueue(
  change: (environment: Environment & { readonly queue: Queue<SimTx> }) => Partial<Queue<SimTx>>,
): OutgoingProgram {
  return (environment) => {
    const queue = environment.store.queue as Queue<SimTx>
    const changed = change({ ...environment, queue })
    return realApp({ ...environment, store: { ...environment.store, queue: { ...queue, ...changed } } })
  }
}

function onParking(
  change: (environment: Environment & { readonly parking: Parking<SimTx> }) => Partial<Parking<SimTx>>,
): OutgoingProgram {
  return (environment) => {
    const { parking } = environment.store
    const changed = change({ ...environment, parking })
    return realApp({ ...environment, store: { ...environment.store, parking: { ...parking, ...changed } } })
  }
}
