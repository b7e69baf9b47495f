import type { LeasedMessage } from '../../src/contracts/index.ts'
import { bindBrokenStores, outbox } from './break-store.ts'

bindBrokenStores([
  {
    name: 'leases messages of one key to several relays',
    caught: 'outbox order: what follows a leased one of its key is not leased by another',
    break: outbox(({ append }) => ({
      append: (tx, messages) =>
        append(
          tx,
          messages.map((message) => ({ ...message, key: undefined })),
        ),
    })),
  },
  {
    name: 'takes keys for each other that look alike',
    caught: 'outbox order: any text can be a key, and two keys are never one',
    break: outbox(({ append }) => ({
      append: (tx, messages) =>
        append(
          tx,
          messages.map((message) => ({ ...message, key: message.key?.trim().toLowerCase() })),
        ),
    })),
  },
  {
    name: 'keeps the leases of what was given back',
    caught: 'outbox order: what was given back is leased again at once, in order, and not counted',
    break: outbox(() => ({ release: async () => {} })),
  },
  {
    name: 'counts what was given back as an attempt',
    caught: 'outbox order: what was given back is leased again at once, in order, and not counted',
    break: outbox(({ markFailed }) => ({
      release: (messages) => markFailed(messages, { delayMs: 0, error: 'given back', dead: false }),
    })),
  },
  {
    name: 'gives back what another has leased by now',
    caught: 'outbox order: what was given back is leased again at once, in order, and not counted',
    break: outbox(({ lease, release }) => {
      return {
        async lease(limit, leaseMs) {
          const leased = await lease(limit, leaseMs)
          for (const message of leased) latest.set(message.id, message)
          return leased
        },
        release: (messages) => release(messages.map((message) => latest.get(message.id) ?? message)),
      }
    }),
  },
  {
    name: 'leases whatever fits the limit, however large',
    caught: 'outbox: so many bytes are leased at once, and one message whatever its size',
    break: outbox(({ lease }) => ({ lease: (limit, leaseMs) => lease(limit, leaseMs) })),
  },
  {
    name: 'lets a dead message hold up its key',
    caught: 'outbox order: a dead one holds nobody up',
    break: outbox(({ markFailed }) => ({
      markFailed: (messages, failure) => markFailed(messages, { ...failure, delayMs: 3_600_000, dead: false }),
    })),
  },
  {
    name: 'forgets what the broker said of a dead message',
    caught: 'outbox dead: they are listed, oldest first, with their content and what was said of them',
    break: outbox(({ markFailed }) => ({
      markFailed: (messages, failure) => markFailed(messages, { ...failure, error: '' }),
    })),
  },
  {
    name: 'lets all dead messages live again when one was named',
    caught: 'outbox dead: those that are named live again, at once and with no attempts counted',
    break: outbox(({ retryDead }) => ({ retryDead: () => retryDead() })),
  },
])

const latest = new Map<string, LeasedMessage>()
