import type { Queue, QueuedMessage, QueueTicket } from '../../src/contracts/index.ts'
import { textOf } from '../../src/testing/sample-records.ts'
import { bindBrokenStores, queue } from './break-store.ts'

const uncounted = 'queue: a released message can be taken again at once, and that delivery is not counted'
const forLater =
  'queue: a message released for later is hidden until then, with those behind it, and that delivery is not counted'

type Release = (name: string, taken: readonly QueueTicket[], visibilityMs: number) => Promise<void>
const untaken = { untaken: true } as const

/** Gives back in another way; whatever else is hidden is hidden as ever. */
const releasing = (change: (real: Queue<unknown>) => Release) =>
  queue((real) => ({
    hide: (name, taken, visibilityMs, options) =>
      options?.untaken ? change(real)(name, taken, visibilityMs) : real.hide(name, taken, visibilityMs, options),
  }))

/** Gives back by removing and sending anew, as it can be done with any queue. */
const sendingAgain = releasing(({ remove, send }) => async (name, taken) => {
  const messages = (taken as readonly QueuedMessage[]).map(({ message }) => message)
  const tickets = taken.map(({ ticket }) => ticket)
  await remove(undefined, name, tickets)
  // The cases send so that the first letter is the key.
  await send(
    undefined,
    name,
    messages.map((message) => ({ message, key: textOf(message).slice(0, 1) })),
  )
})

bindBrokenStores([
  {
    name: 'keeps what was released until its visibility runs out',
    caught: uncounted,
    break: releasing(() => async () => {}),
  },
  {
    name: 'counts the taking of what was released',
    caught: uncounted,
    break: releasing(
      ({ hide }) =>
        (name, taken) =>
          hide(name, taken, 0),
    ),
  },
  {
    name: 'forgets all takings of what was released',
    caught: uncounted,
    break: sendingAgain,
  },
  {
    name: 'puts what was released at the end',
    caught: 'queue: released messages keep their places, in whatever order they are given back',
    break: sendingAgain,
  },
  {
    name: 'does not release what was hidden once more',
    caught: 'queue: a message that was hidden for longer can still be released',
    break: queue(({ hide }) => {
      const hidden = new Set<string>()
      return {
        hide(name, taken, visibilityMs, options) {
          if (!options?.untaken) for (const { ticket } of taken) hidden.add(ticket)
          const some = options?.untaken ? taken.filter(({ ticket }) => !hidden.has(ticket)) : taken
          return hide(name, some, visibilityMs, options)
        },
      }
    }),
  },
  {
    name: 'releases at once what is to wait',
    caught: forLater,
    break: releasing(
      ({ hide }) =>
        (name, taken) =>
          hide(name, taken, 0, untaken),
    ),
  },
  {
    name: 'counts the taking of what is to wait',
    caught: forLater,
    break: releasing(
      ({ hide }) =>
        (name, taken, visibilityMs) =>
          hide(name, taken, visibilityMs, visibilityMs === 0 ? untaken : {}),
    ),
  },
  {
    name: 'removes what another has taken by now',
    caught: 'queue: a message that must still be held is removed only if it is; otherwise the transaction fails',
    break: queue(({ remove }) => ({ remove: (tx, name, tickets) => remove(tx, name, tickets) })),
  },
  {
    name: 'releases what another has taken by now',
    caught: 'queue: a late holder cannot release what another holds now',
    break: releasing(
      ({ hide }) =>
        (name, taken) =>
          hide(
            name,
            taken.flatMap(({ ticket }) => [1, 2, 3].map((deliveries) => ({ ticket, deliveries }))),
            0,
            untaken,
          ),
    ),
  },
  {
    name: 'releases all or nothing',
    caught: 'queue: one release gives back what is still held, and leaves alone what is gone or held by another',
    break: queue(({ remove, hide }) => {
      const removed = new Set<string>()
      return {
        remove(tx, name, tickets) {
          for (const ticket of tickets) removed.add(ticket)
          return remove(tx, name, tickets)
        },
        async hide(name, taken, visibilityMs, options) {
          if (options?.untaken && taken.some(({ ticket }) => removed.has(ticket))) return
          await hide(name, taken, visibilityMs, options)
        },
      }
    }),
  },
])
