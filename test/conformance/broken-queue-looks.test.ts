import type { Queue } from '../../src/contracts/index.ts'
import { bindBrokenStores, queue } from './break-store.ts'

const lastSent = new Map<string, number>()
const firstSent = new Map<string, number>()

/** Names all to which something was sent, whatever became of it. */
function remembering() {
  const named = new Set<string>()
  return queue(({ send }) => ({
    send(tx, name, messages) {
      named.add(name)
      return send(tx, name, messages)
    },
    queues: async () => [...named],
  }))
}

/** Another age for those that have one. */
function aged({ count }: Queue<unknown>, age: (name: string, oldestMs: number) => number | Promise<number>) {
  return async (name: string) => {
    const found = await count(name)
    return found.oldestMs === undefined ? found : { ...found, oldestMs: await age(name, found.oldestMs) }
  }
}

type List = NonNullable<Queue<unknown>['list']>

/** Lists in another way. */
const listing = (change: (list: List) => List) => {
  return queue(({ list }) => (list === undefined ? {} : { list: change(list) }))
}

/** What a store says of its queues, and gets wrong. */
bindBrokenStores([
  {
    name: 'names only queues of which something can be taken',
    caught: 'queue names: every queue that has messages is named once, even when all of them are hidden',
    break: queue(({ queues, count }) => ({
      async queues() {
        const names = await queues()
        const counts = await Promise.all(names.map((name) => count(name)))
        return names.filter((_, index) => (counts[index]?.ready ?? 0) > 0)
      },
    })),
  },
  {
    name: 'names a queue once for each message',
    caught: 'queue names: every queue that has messages is named once, even when all of them are hidden',
    break: queue(({ queues, count }) => ({
      async queues() {
        const names: string[] = []
        for (const name of await queues()) {
          const { ready, hidden } = await count(name)
          names.push(...Array.from({ length: ready + hidden }, () => name))
        }
        return names
      },
    })),
  },
  {
    name: 'names queues that have become empty',
    caught: 'queue names: one whose last message was removed is not named any more',
    break: remembering(),
  },
  {
    name: 'names queues before the commit',
    caught: 'queue names: one that only a failed transaction has sent to is not named',
    break: remembering(),
  },
  {
    name: 'does not tell the names of queues apart',
    caught: 'queue names: names are returned as they were spelled, and similar names are kept apart',
    break: queue(({ queues }) => ({
      queues: async () => [...new Set((await queues()).map((name) => name.toLowerCase().trim()))],
    })),
  },
  {
    name: 'knows no age of what is hidden',
    caught: 'queue: the age of the oldest message grows, whether it can be taken or not',
    break: queue(({ count }) => ({
      async count(name) {
        const found = await count(name)
        return found.ready > 0 ? found : { ...found, oldestMs: undefined }
      },
    })),
  },
  {
    name: 'counts the age of a message from its last delivery',
    caught: 'queue: the age of the oldest message grows, whether it can be taken or not',
    break: queue((real) => ({
      take(name, options) {
        lastSent.set(name, performance.now())
        return real.take(name, options)
      },
      count: aged(real, (name, oldestMs) => Math.min(oldestMs, performance.now() - (lastSent.get(name) ?? 0))),
    })),
  },
  {
    name: 'reports the age of the youngest message',
    caught: 'queue: the age is that of the oldest message that is left',
    break: queue((real) => ({
      send(tx, name, messages) {
        lastSent.set(name, performance.now())
        return real.send(tx, name, messages)
      },
      count: aged(real, (name) => performance.now() - (lastSent.get(name) ?? 0)),
    })),
  },
  {
    name: 'reports the age of a message that is gone',
    caught: 'queue: the age is that of the oldest message that is left',
    break: queue((real) => ({
      send(tx, name, messages) {
        if (!firstSent.has(name)) firstSent.set(name, performance.now())
        return real.send(tx, name, messages)
      },
      count: aged(real, (name) => performance.now() - (firstSent.get(name) ?? 0)),
    })),
  },
  {
    name: 'reports the age of the oldest message in all queues',
    caught: 'queue: the age says nothing of other queues, and an empty queue has none',
    break: queue((real) => ({
      count: aged(real, async () => {
        const all = await Promise.all((await real.queues()).map((name) => real.count(name)))
        return Math.max(...all.map(({ oldestMs }) => oldestMs ?? 0))
      }),
    })),
  },
  {
    name: 'says that an empty queue is 0 ms old',
    caught: 'queue: the age says nothing of other queues, and an empty queue has none',
    break: queue(({ count }) => ({
      async count(name) {
        const found = await count(name)
        return { ...found, oldestMs: found.oldestMs ?? 0 }
      },
    })),
  },
  {
    name: 'lists only what can be taken',
    caught:
      'queue list: every message once, in the order in which they were sent, whether hidden or not, as it was sent',
    break: listing((list) => async (name, page) => {
      return (await list(name, page)).filter(({ deliveries }) => deliveries === 0)
    }),
  },
  {
    name: 'lists whatever fits the limit, however large',
    caught:
      'queue list: page by page, also behind a message that is gone, and a page has at most so many bytes, but one message always',
    break: listing(
      (list) =>
        (name, { maxBytes: _, ...page }) =>
          list(name, page),
    ),
  },
  {
    name: 'begins a page at the message that is named',
    caught:
      'queue list: page by page, also behind a message that is gone, and a page has at most so many bytes, but one message always',
    break: listing((list) => async (name, { after, ...page }) => {
      const all = await list(name, { limit: 100 })
      return all.slice(all.findIndex(({ ticket }) => ticket === after) + 1).slice(0, page.limit)
    }),
  },
  {
    name: 'takes what it lists',
    caught: 'queue list: looking at a queue takes nothing, hides nothing, and shows nothing that did not commit',
    break: queue(({ take }) => ({
      async list(name, { limit }) {
        const taken = await take(name, { limit, visibilityMs: 60_000 })
        return taken.map((message) => ({ ...message, sentAt: new Date() }))
      },
    })),
  },
  {
    name: 'says that everything was sent at this moment',
    caught: 'queue list: it says when each message was sent, by the clock that parked messages have their times from',
    break: listing((list) => {
      let ms = 0
      return async (name, page) => (await list(name, page)).map((each) => ({ ...each, sentAt: new Date(++ms) }))
    }),
  },
])
