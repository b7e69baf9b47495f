import type { DatabaseSync } from 'node:sqlite'
import * as v from 'valibot'
import { expect, expectTypeOf, test } from 'vitest'
import * as z from 'zod'
import type { Queue } from '../../src/driver.ts'
import {
  type HandlerContext,
  type JustonceEvent,
  justonce,
  type Message,
  type MessageToPublish,
  messages,
  type OnceContext,
  type OnceOutcome,
  once,
  type Store,
  type TxOf,
} from '../../src/index.ts'
import { type MemoryStore, type MemoryTx, memoryStore } from '../../src/memory.ts'
import { type SqliteStore, sqliteStore } from '../../src/stores/sqlite/index.ts'

interface NoteCreated {
  readonly noteId: number
  readonly author: string
}
interface Map {
  'note.created': NoteCreated
  'note.tagged': { readonly tags: string[] }
}

/** Only looked at by the compiler: nothing in here is run. */
const typesOnly = (_: () => unknown): void => {}

declare const withoutQueue: Omit<MemoryStore, 'queue'>
declare const maybeQueue: Store<MemoryTx>

test('tx has the type of the store', () => {
  expectTypeOf<TxOf<MemoryStore>>().toEqualTypeOf<MemoryTx>()
  expectTypeOf<TxOf<SqliteStore<DatabaseSync>>>().toEqualTypeOf<DatabaseSync>()
  typesOnly(() => {
    const app = justonce({ store: memoryStore() })
    app.on('anything', 'a', (_, { tx }) => expectTypeOf(tx).toEqualTypeOf<MemoryTx>())
    app.onBatch('anything', 'b', (_, { tx }) => expectTypeOf(tx).toEqualTypeOf<MemoryTx>())
    const sqlite = justonce({
      store: sqliteStore({ path: ':memory:' }),
      beforeEach: (_, tx) => expectTypeOf(tx).toEqualTypeOf<DatabaseSync>(),
    })
    sqlite.on('anything', 'a', (_, { tx }) => expectTypeOf(tx).toEqualTypeOf<DatabaseSync>())
  })
})

test('tx stays inferred when the messages are named', () => {
  typesOnly(() => {
    const app = justonce({ store: memoryStore(), messages: messages<Map>() })
    app.on('note.created', 'a', (_, { tx }) => expectTypeOf(tx).toEqualTypeOf<MemoryTx>())
  })
})

test('without named messages any type is allowed, and a body is unknown', () => {
  typesOnly(() => {
    const app = justonce({ store: memoryStore() })
    app.on('anything', 'a', (message) => expectTypeOf(message).toEqualTypeOf<Message<unknown>>())
  })
})

test('a body has the type that messages<>() names', () => {
  typesOnly(() => {
    const app = justonce({ store: memoryStore(), messages: messages<Map>() })
    app.on('note.created', 'a', ({ body }) => expectTypeOf(body).toEqualTypeOf<NoteCreated>())
    app.on('note.created', { name: 'b', retry: { attempts: 3 } }, ({ body }) =>
      expectTypeOf(body).toEqualTypeOf<NoteCreated>(),
    )
    app.onBatch('note.tagged', 'c', (all) =>
      expectTypeOf(all).toEqualTypeOf<readonly Message<{ readonly tags: string[] }>[]>(),
    )
    // @ts-expect-error: no such message
    app.on('note.deleted', 'd', () => {})
    app.on(
      'note.created',
      {
        name: 'e',
        identify: (message) => {
          expectTypeOf(message.body).toEqualTypeOf<NoteCreated>()
          return message.body.author
        },
        fingerprint: ({ body }) => body.noteId,
      },
      ({ body }) => expectTypeOf(body).toEqualTypeOf<NoteCreated>(),
    )
  })
})

test('a body has the type that schemas make of it', () => {
  typesOnly(() => {
    const app = justonce({
      store: memoryStore(),
      messages: messages({
        'order.placed': z.object({ at: z.string().transform((text) => new Date(text)) }),
        'order.paid': v.object({ amount: v.number() }),
      }),
    })
    app.on('order.placed', 'a', ({ body }) => expectTypeOf(body).toEqualTypeOf<{ at: Date }>())
    app.on('order.paid', 'b', ({ body }) => expectTypeOf(body).toEqualTypeOf<{ amount: number }>())
    // @ts-expect-error: no such message
    app.on('order.sent', 'c', () => {})
  })
})

test("a body has the type that the handler's own schema makes of it", () => {
  typesOnly(() => {
    const app = justonce({ store: memoryStore() })
    app.on('order.placed', { name: 'a', schema: z.object({ amount: z.coerce.number() }) }, ({ body }) =>
      expectTypeOf(body).toEqualTypeOf<{ amount: number }>(),
    )
    app.onBatch('order.placed', { name: 'b', schema: v.object({ amount: v.number() }) }, ([first]) =>
      expectTypeOf(first?.body).toEqualTypeOf<{ amount: number } | undefined>(),
    )
    const typed = justonce({ store: memoryStore(), messages: messages<Map>() })
    typed.on('note.created', { name: 'c', schema: z.object({ noteId: z.string() }) }, ({ body }) =>
      expectTypeOf(body).toEqualTypeOf<{ noteId: string }>(),
    )
  })
})

test('publish takes what the messages name, and nothing else', () => {
  typesOnly(() => {
    const app = justonce({ store: memoryStore(), messages: messages<Map>() })
    app.on('note.created', 'a', async (_, { publish, tx }) => {
      expectTypeOf(publish('note.tagged', { tags: ['x'] })).toEqualTypeOf<Promise<string>>()
      await publish('note.tagged', { tags: [] }, { key: 'k', headers: { a: 'b' }, id: 'x' })
      // @ts-expect-error: no such message
      await publish('note.deleted', {})
      // @ts-expect-error: the body of another message
      await publish('note.tagged', { noteId: 1 })
      // @ts-expect-error: headers are text
      await publish('note.tagged', { tags: [] }, { headers: { a: 1 } })
      await app.publish('note.tagged', { tags: [] }, { tx })
      // @ts-expect-error: the body of another message
      await app.publish('note.tagged', { noteId: 1 }, { tx })
    })
    // @ts-expect-error: not a transaction of this store
    app.publish('note.tagged', { tags: [] }, { tx: {} as DatabaseSync })
  })
})

test('publishAll takes a list of what the messages name, each with its own body and options', () => {
  typesOnly(() => {
    const app = justonce({ store: memoryStore(), messages: messages<Map>() })
    app.on('note.created', 'a', async (_, { publishAll, tx }) => {
      expectTypeOf(publishAll([{ type: 'note.tagged', body: { tags: ['x'] }, key: 'k' }])).toEqualTypeOf<
        Promise<readonly string[]>
      >()
      const mixed: MessageToPublish<Map>[] = [
        { type: 'note.tagged', body: { tags: [] } },
        { type: 'note.created', body: { noteId: 1, author: 'x' }, id: 'x' },
      ]
      await app.publishAll(mixed, { tx })
      // @ts-expect-error: the body of another message
      await publishAll([{ type: 'note.tagged', body: { noteId: 1 } }])
      // @ts-expect-error: no such message
      await app.publishAll([{ type: 'note.deleted', body: {} }])
      // @ts-expect-error: headers are text
      await app.publishAll([{ type: 'note.tagged', body: { tags: [] }, headers: { a: 1 } }])
    })
    // @ts-expect-error: not a transaction of this store
    app.publishAll([{ type: 'note.tagged', body: { tags: [] } }], { tx: {} as DatabaseSync })
    const anything = justonce({ store: memoryStore() })
    void anything.publishAll([{ type: 'any', body: 7, key: 'k' }])
  })
})

test('a store without a queue gives its handlers no publish', () => {
  typesOnly(() => {
    const app = justonce({ store: withoutQueue })
    app.on('anything', 'a', (_, context) => {
      expectTypeOf(context).toHaveProperty('tx')
      expectTypeOf(context).toHaveProperty('afterCommit')
      expectTypeOf(context).not.toHaveProperty('publish')
    })
    justonce({ store: maybeQueue }).on('anything', 'a', (_, context) =>
      expectTypeOf(context).not.toHaveProperty('publish'),
    )
  })
  expectTypeOf<MemoryStore['queue']>().toEqualTypeOf<Queue<MemoryTx>>()
  expectTypeOf<HandlerContext<MemoryStore, Map>>().toHaveProperty('publish')
})

test('options that do not exist are refused by the compiler, too', () => {
  typesOnly(() => {
    // @ts-expect-error: misspelt
    justonce({ store: memoryStore(), concurency: 2 })
    const app = justonce({ store: memoryStore() })
    // @ts-expect-error: misspelt
    app.on('anything', { name: 'a', retries: 2 }, () => {})
    // @ts-expect-error: no such delivery
    app.on('anything', { name: 'a', delivery: 'twice' }, () => {})
    // @ts-expect-error: a name is required
    app.on('anything', {}, () => {})
  })
})

test('events can be listened to, and emitted by nobody else', () => {
  typesOnly(() => {
    const app = justonce({ store: memoryStore() })
    app.events.listen((event) => expectTypeOf(event.kind).toEqualTypeOf<JustonceEvent['kind']>())
    // @ts-expect-error: only the app does
    app.events.emit({ kind: 'store-up' })
  })
  expect(Object.keys(justonce({ store: memoryStore() }).events)).toEqual(['listen'])
})

test('once() infers tx and the value', () => {
  typesOnly(async () => {
    const outcome = await once(memoryStore(), { handler: 'a', key: 'k' }, (tx, context) => {
      expectTypeOf(tx).toEqualTypeOf<MemoryTx>()
      expectTypeOf(context).toEqualTypeOf<OnceContext>()
      return { charged: 5 }
    })
    expectTypeOf(outcome).toEqualTypeOf<OnceOutcome<{ charged: number }>>()
    if (outcome.status === 'processed') expectTypeOf(outcome.value).toEqualTypeOf<{ charged: number }>()
    if (outcome.status === 'duplicate') expectTypeOf(outcome.processedAt).toEqualTypeOf<Date>()
    // @ts-expect-error: a twin still runs, so there is no value
    if (outcome.status === 'busy') outcome.value
    const dated = await once(memoryStore(), { handler: 'a', key: 'k' }, () => ({
      at: new Date(),
      tags: ['a'],
      no: undefined,
    }))
    if (dated.status === 'duplicate') expectTypeOf(dated.value).toEqualTypeOf<{ at: string; tags: string[] }>()
    const later = await once(sqliteStore({ path: ':memory:' }), { handler: 'a', key: 'k' }, async (tx) => {
      expectTypeOf(tx).toEqualTypeOf<DatabaseSync>()
      return 5
    })
    expectTypeOf(later).toEqualTypeOf<OnceOutcome<number>>()
  })
})

test('app.once() has tx, and publishes what the messages name', () => {
  typesOnly(async () => {
    const app = justonce({ store: memoryStore(), messages: messages<Map>() })
    const outcome = await app.once({ handler: 'a', key: 'k' }, async (tx, { publish, afterCommit, signal }) => {
      expectTypeOf(tx).toEqualTypeOf<MemoryTx>()
      expectTypeOf(signal).toEqualTypeOf<AbortSignal>()
      afterCommit(() => {})
      // @ts-expect-error: the body of another message
      await publish('note.tagged', { noteId: 1 })
      return await publish('note.tagged', { tags: [] })
    })
    expectTypeOf(outcome).toEqualTypeOf<OnceOutcome<string>>()
    await justonce({ store: withoutQueue }).once({ handler: 'a', key: 'k' }, (_, context) =>
      expectTypeOf(context).not.toHaveProperty('publish'),
    )
  })
})

test('joined, once() has tx and no afterCommit', () => {
  typesOnly(async () => {
    const store = memoryStore()
    await store.transaction(async (tx) => {
      const outcome = await once(store.within(tx), { handler: 'a', key: 'k' }, (lent) => {
        expectTypeOf(lent).toEqualTypeOf<MemoryTx>()
        return 5
      })
      expectTypeOf(outcome).toEqualTypeOf<OnceOutcome<number>>()
      // @ts-expect-error: only the caller knows when that transaction commits
      await once(store.within(tx), { handler: 'a', key: 'k' }, (_, { afterCommit }) => afterCommit(() => {}))
    })
  })
})
