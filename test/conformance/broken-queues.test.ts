import type { QueuedMessage } from '../../src/contracts/index.ts'
import { textOf } from '../../src/testing/sample-records.ts'
import { bindBrokenStores, queue } from './break-store.ts'

bindBrokenStores([
  {
    name: 'sends at once what belongs to a transaction',
    caught: 'queue: a transaction that fails sends nothing and removes nothing',
    break: queue(({ send, count }) => {
      const sending: Promise<void>[] = []
      return {
        send: async (_tx, name, messages) => void sending.push(send(undefined, name, messages)),
        async count(name) {
          await Promise.all(sending)
          return count(name)
        },
      }
    }),
  },
  {
    name: 'does not look whether what must be present is still there',
    caught: 'queue: if a message that must be present is no longer in the queue, nothing of the transaction stands',
    break: queue(({ remove }) => ({ remove: (tx, name, tickets) => remove(tx, name, tickets) })),
  },
  {
    name: 'looks only for what it removes',
    caught: 'queue: if a message that must be present is no longer in the queue, nothing of the transaction stands',
    break: queue(({ remove }) => ({
      remove: (tx, name, tickets, still) =>
        remove(
          tx,
          name,
          tickets,
          still && 'present' in still ? { present: still.present.filter((each) => tickets.includes(each)) } : still,
        ),
    })),
  },
  {
    name: 'takes as many as it is asked for, however large they are',
    caught: 'queue: the bytes taken at once are limited, but one message is always taken',
    break: queue(({ take }) => ({ take: (name, { limit, visibilityMs }) => take(name, { limit, visibilityMs }) })),
  },
  {
    name: 'hides what was taken for no time at all',
    caught: 'queue: taken messages are hidden, and each delivery is counted',
    break: queue(({ take }) => ({ take: (name, options) => take(name, { ...options, visibilityMs: 0 }) })),
  },
  {
    name: 'wants whole milliseconds',
    caught: 'queue: a visibility need not be a whole number of milliseconds',
    break: queue(({ take }) => ({
      async take(name, options) {
        if (!Number.isInteger(options.visibilityMs)) throw new Error('invalid input syntax for type bigint')
        return await take(name, options)
      },
    })),
  },
  {
    name: 'keeps one of several messages that are the same',
    caught: 'queue: identical messages are separate messages',
    break: queue(({ send }) => ({
      send: (tx, name, messages) =>
        send(tx, name, [...new Map(messages.map((each) => [textOf(each.message), each])).values()]),
    })),
  },
  {
    name: 'hands out a message to everyone who asks',
    caught: 'queue: rivals never get the same message, and together they get all',
    break: queue(({ take, hide }) => ({
      async take(name, options) {
        const taken = await take(name, options)
        const again = taken.filter(({ deliveries }) => deliveries === 1)
        await hide(name, again, 0)
        return taken
      },
    })),
  },
  {
    name: 'lets a former holder give a message back',
    caught: 'queue: a late holder cannot hide what another holds now',
    break: queue(({ hide }) => ({
      hide: (name, taken, visibilityMs) =>
        hide(
          name,
          taken.flatMap(({ ticket }) => [1, 2, 3].map((deliveries) => ({ ticket, deliveries }))),
          visibilityMs,
        ),
    })),
  },
  {
    name: 'pays no heed to the keys of messages',
    caught:
      'queue order: nothing is taken behind a hidden message of its key; messages of other keys and without a key are',
    break: queue(({ send }) => ({
      send: (tx, name, messages) =>
        send(
          tx,
          name,
          messages.map(({ message }) => ({ message, key: undefined })),
        ),
    })),
  },
  {
    name: 'takes all messages without a key for those of one',
    caught:
      'queue order: nothing is taken behind a hidden message of its key; messages of other keys and without a key are',
    break: queue(({ send }) => ({
      send: (tx, name, messages) =>
        send(
          tx,
          name,
          messages.map(({ message, key = '' }) => ({ message, key })),
        ),
    })),
  },
  {
    name: 'does not tell the keys of messages apart',
    caught: 'queue order: keys are compared exactly, and each queue has its own',
    break: queue(({ send }) => ({
      send: (tx, name, messages) =>
        send(
          tx,
          name,
          messages.map(({ message, key }) => ({ message, key: key?.trim().toLowerCase() })),
        ),
    })),
  },
  {
    name: 'forgets the key of a message that comes back',
    caught: 'queue order: when the first is removed or given back, what is behind it can be taken',
    break: queue(({ hide, remove, send }) => ({
      async hide(name, taken, visibilityMs) {
        await hide(name, taken, visibilityMs)
        if (visibilityMs > 0) return
        const tickets = taken.map(({ ticket }) => ticket)
        await remove(undefined, name, tickets)
        const again = taken as readonly QueuedMessage[]
        await send(
          undefined,
          name,
          again.map(({ message }) => ({ message, key: undefined })),
        )
      },
    })),
  },
  {
    name: 'lets a key go on past a message that waits',
    caught: 'queue order: a refused message that waits holds back its key, and no other',
    break: queue(({ remove, send }) => ({
      async hide(name, taken) {
        const waiting = taken as readonly QueuedMessage[]
        await send(
          undefined,
          name,
          waiting.map(({ message }) => ({ message, key: undefined })),
        )
        await remove(
          undefined,
          name,
          taken.map(({ ticket }) => ticket),
        )
      },
    })),
  },
  {
    name: 'looks only among the oldest for what can be taken',
    caught: 'queue order: a backlog of 300 behind a hidden message does not hide others',
    break: queue(({ take, hide }) => ({
      async take(name, options) {
        const taken = await take(name, options)
        const isNear = ({ ticket }: QueuedMessage) => Number(ticket) <= 100
        await hide(
          name,
          taken.filter((each) => !isNear(each)),
          0,
          { untaken: true },
        )
        return taken.filter(isNear)
      },
    })),
  },
  {
    name: 'shares a key between those who take at the same time',
    caught: 'queue order: rivals that take at the same time never share a key, and every key comes in order',
    break: queue(({ take, send }) => ({
      take: async (name, options) => take(name, { ...options, visibilityMs: 0 }),
      send,
    })),
  },
])
