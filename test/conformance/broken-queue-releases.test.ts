import type { QueuedMessage } from '../../src/contracts/index.ts'
import { textOf } from '../../src/testing/sample-records.ts'
import { bindBrokenStores, queue } from './break-store.ts'

const uncounted = 'queue: what is released can be taken again at once, and the taking is not counted'
const forLater =
  'queue: what is released for later is hidden until then with what stands behind it, and the taking is not counted'

/** Gives back by removing and sending anew, as it can be done with any queue. */
const sendingAgain = queue(({ remove, send }) => ({
  async release(name, taken) {
    const messages = (taken as readonly QueuedMessage[]).map(({ message }) => message)
    const tickets = taken.map(({ ticket }) => ticket)
    await remove(undefined, name, tickets)
    // The cases send so that the first letter is the key.
    await send(
      undefined,
      name,
      messages.map((message) => ({ message, key: textOf(message).slice(0, 1) })),
    )
  },
}))

bindBrokenStores([
  {
    name: 'keeps what was released until its visibility runs out',
    caught: uncounted,
    break: queue(() => ({ release: async () => {} })),
  },
  {
    name: 'counts the taking of what was released',
    caught: uncounted,
    break: queue(({ hide }) => ({ release: (name, taken) => hide(name, taken, 0) })),
  },
  {
    name: 'forgets all takings of what was released',
    caught: uncounted,
    break: sendingAgain,
  },
  {
    name: 'puts what was released at the end',
    caught: 'queue: what is released stands in its old place, in whichever order it was given back',
    break: sendingAgain,
  },
  {
    name: 'does not release what was hidden once more',
    caught: 'queue: what was hidden for longer is released all the same',
    break: queue(({ hide, release }) => {
      const hidden = new Set<string>()
      return {
        hide(name, taken, visibilityMs) {
          for (const { ticket } of taken) hidden.add(ticket)
          return hide(name, taken, visibilityMs)
        },
        release: (name, taken) =>
          release(
            name,
            taken.filter(({ ticket }) => !hidden.has(ticket)),
          ),
      }
    }),
  },
  {
    name: 'releases at once what is to wait',
    caught: forLater,
    break: queue(({ release }) => ({ release: (name, taken) => release(name, taken) })),
  },
  {
    name: 'counts the taking of what is to wait',
    caught: forLater,
    break: queue(({ hide, release }) => ({
      release: (name, taken, visibilityMs) =>
        visibilityMs === undefined ? release(name, taken) : hide(name, taken, visibilityMs),
    })),
  },
  {
    name: 'removes what another has taken by now',
    caught:
      'queue: what must still be taken as before is removed only then, and otherwise nothing of the transaction stands',
    break: queue(({ remove }) => ({ remove: (tx, name, tickets) => remove(tx, name, tickets) })),
  },
  {
    name: 'releases what another has taken by now',
    caught: 'queue: whoever comes back late cannot release what another holds now',
    break: queue(({ release }) => ({
      release: (name, taken) =>
        release(
          name,
          taken.flatMap(({ ticket }) => [1, 2, 3].map((deliveries) => ({ ticket, deliveries }))),
        ),
    })),
  },
  {
    name: 'releases all or nothing',
    caught: 'queue: one release gives back what is still held, and leaves alone what is gone or with another',
    break: queue(({ remove, release }) => {
      const removed = new Set<string>()
      return {
        remove(tx, name, tickets) {
          for (const ticket of tickets) removed.add(ticket)
          return remove(tx, name, tickets)
        },
        async release(name, taken) {
          if (!taken.some(({ ticket }) => removed.has(ticket))) await release(name, taken)
        },
      }
    }),
  },
])
