import type { ParkedTicket, RecordKey } from '../../src/contracts/index.ts'
import { countParked } from '../../src/operations/index.ts'
import { bindBrokenStores, parking } from './break-store.ts'

const isOf = (ticket: RecordKey, row: RecordKey) => ticket.handler === row.handler && ticket.key === row.key

bindBrokenStores([
  {
    name: 'parks a second time over the first',
    caught: 'parking: a message that is already parked stays as it is when it is parked again',
    break: parking(({ park, change }) => ({
      async park(tx, messages) {
        await change(
          tx,
          messages.map(({ handler, key }) => ({ kind: 'done', handler, key })),
        )
        await park(tx, messages)
      },
    })),
  },
  {
    name: 'drops what is too large for it',
    caught:
      'hostile: a message larger than the store can keep is handled, and if it fails, a note of it is the dead letter',
    break: (store) => ({
      limits: async () => ({ messageBytes: 100_000 }),
      ...parking(({ park }) => ({
        park: (tx, rows) =>
          park(
            tx,
            rows.filter(({ message }) => message.body.length < 100_000),
          ),
      }))(store),
    }),
  },
  {
    name: 'keeps parked messages as text',
    caught: 'parking: messages are kept byte for byte, even what no text column takes',
    break: parking(({ park }) => ({
      park: (tx, messages) =>
        park(
          tx,
          messages.map((each) => ({
            ...each,
            message: { ...each.message, body: new TextEncoder().encode(new TextDecoder().decode(each.message.body)) },
          })),
        ),
    })),
  },
  {
    name: 'reserves parked messages before their time',
    caught: 'parking: due now is reserved, due in an hour is not, dead never is',
    break: parking(({ park }) => ({
      park: (tx, messages) =>
        park(
          tx,
          messages.map((each) => ({ ...each, delayMs: 0 })),
        ),
    })),
  },
  {
    name: 'takes the time at which a message is due for no delay',
    caught: 'parking: a message can be due at a time, by the clock of the database, instead of after a delay',
    break: parking(({ park }) => ({
      park: (tx, messages) =>
        park(
          tx,
          messages.map(({ dueAt: _, ...each }) => each),
        ),
    })),
  },
  {
    name: 'pays no heed to steps',
    caught: 'parking: a later step is not due while an earlier one of the same message is parked, waiting or dead',
    break: parking(({ park }) => ({
      park: (tx, messages) =>
        park(
          tx,
          messages.map((each) => ({ ...each, step: 0 })),
        ),
    })),
  },
  {
    name: 'leaves a dead letter its step whatever it is given',
    caught:
      'parking: a dead letter that is given a later step holds up no other handler, and keeps its place in its key',
    break: parking(({ change }) => ({
      change: (tx, changes) =>
        change(
          tx,
          changes.map((each) => (each.kind === 'dead' ? { ...each, step: undefined } : each)),
        ),
    })),
  },
  {
    name: 'lets a row be taken that is not what it was',
    caught:
      'parking: a row is taken only if it has not changed since it was read and is not gone, with one answer each',
    break: parking(() => ({ take: async (_, tickets) => tickets.map(() => true) })),
  },
  {
    name: 'takes a row that was parked again for the row before it',
    caught: 'parking: a message that is parked again has no revision of its earlier row',
    on: 'simulated',
    break: parking(({ list, take }) => ({
      async take(tx, tickets) {
        const rows = await list()
        const ours = await take(tx, tickets)
        const isAnother = (ticket: ParkedTicket & { readonly sequence?: number }) =>
          rows.some((row) => isOf(ticket, row) && row.sequence !== ticket.sequence)
        return tickets.map((ticket, index) => ours[index] === true || isAnother(ticket))
      },
    })),
  },
  {
    name: 'lets a row be taken that another holds',
    caught: 'parking: a row that another transaction holds is neither taken nor waited for, and the others are taken',
    on: 'simulated',
    break: parking(({ list }) => ({
      async take(_, tickets) {
        const rows = await list()
        const same = (ticket: ParkedTicket) => (row: ParkedTicket) =>
          isOf(ticket, row) && row.revision === ticket.revision
        return tickets.map((ticket) => rows.some(same(ticket)))
      },
    })),
  },
  {
    name: 'only looks for what is due',
    caught: 'parking: rivals that reserve at the same time get different messages, and together all of them',
    break: parking(({ reserve, rebook }) => ({
      async reserve(options) {
        const rows = await reserve(options)
        await rebook(rows, 0)
        return rows
      },
    })),
  },
  {
    name: 'does not count what has begun and never ended',
    caught: 'reservation: an attempt that began and never ended is visible when the row is reserved again',
    break: parking(({ reserve }) => ({
      reserve: async (options) => (await reserve(options)).map((row) => ({ ...row, begun: 0 })),
    })),
  },
  {
    name: 'counts a reservation as an attempt that has begun',
    caught: 'reservation: when it has run out, the message is due again, with no attempt begun',
    break: parking(({ reserve, rebook }) => ({
      async reserve(options) {
        const rows = await reserve(options)
        const more = rows.map((row) => ({ ...row, begun: row.begun + 1 }))
        const revisions = await rebook(more, options.forMs)
        return more.map((row, index) => ({ ...row, revision: revisions[index] ?? row.revision }))
      },
    })),
  },
  {
    name: 'reserves any number of bytes',
    caught: 'reservation: the bytes reserved at once are limited, but one message is always reserved',
    break: parking(({ reserve }) => ({
      reserve: (options) => reserve({ ...options, maxBytes: Number.MAX_SAFE_INTEGER }),
    })),
  },
  {
    name: 'counts dead letters among those that wait',
    caught: 'waiting: how many messages of each type wait for each handler, without dead letters',
    break: parking(({ tally }) => ({
      tally: ({ state: _, ...filter }, by, limit) => tally(filter, by, limit),
    })),
  },
  {
    name: 'lets others follow past a dead letter',
    caught: 'following: a dead letter in between ends the run, unless its handler continues past dead letters',
    break: parking(({ reserve }) => ({
      reserve: (options) => reserve(options.behind === undefined ? options : { ...options, pastDead: true }),
    })),
  },
  {
    name: 'lets others follow on a row that is no longer reserved',
    caught: 'following: nothing is reserved behind a row that has changed since it was reserved',
    break: parking(({ reserve, list }) => ({
      async reserve(options) {
        if (options.behind === undefined) return await reserve(options)
        const [now] = await list({ keys: [options.behind] })
        return now === undefined ? [] : await reserve({ ...options, behind: now })
      },
    })),
  },
  {
    name: 'gives back in the name of others',
    caught: 'reservation: giving back late changes nothing',
    break: parking(({ rebook, list }) => ({
      async rebook(bookings, forMs) {
        const rows = await list()
        return await rebook(
          rows.filter((row) => bookings.some((booking) => isOf(booking, row))),
          forMs,
        )
      },
    })),
  },
  {
    name: 'pays no heed to order keys',
    caught: 'order: for one handler and order key, only the message that was parked first is due, then the next',
    break: parking(({ park }) => ({
      park: (tx, messages) =>
        park(
          tx,
          messages.map((each) => ({ ...each, orderKey: undefined })),
        ),
    })),
  },
  {
    name: 'takes an order key of one handler for that of another',
    caught: 'order: the same order key of another handler, or one spelled differently, is a different key',
    break: parking(({ reserve }) => ({
      async reserve(options) {
        const rows = await reserve(options)
        return rows.filter((row, index) => rows.findIndex(({ orderKey }) => orderKey === row.orderKey) === index)
      },
    })),
  },
  {
    name: 'puts a message that has failed again behind the others of its key',
    caught:
      'order: later messages wait even while the first is not due, and another attempt does not cost it its place',
    break: parking(({ park, change, list }) => ({
      async change(tx, changes) {
        for (const each of changes) {
          const rows = await list({ handler: each.handler, key: each.key })
          await change(tx, [each])
          if (each.kind !== 'again') continue
          await change(tx, [{ ...each, kind: 'done' }])
          await park(
            tx,
            rows.map((row) => ({ ...row, ...each })),
          )
        }
      },
    })),
  },
  {
    name: 'reserves messages of any type',
    caught: 'parking: only messages of a wanted type are due for a handler, and others do not use up the limit',
    break: parking(({ reserve }) => ({
      reserve: (options) =>
        reserve(
          options.behind === undefined
            ? { ...options, wanted: options.wanted.map(({ handler }) => ({ handler, type: undefined })) }
            : options,
        ),
    })),
  },
  {
    name: 'goes past every dead letter',
    caught: 'order: a dead letter blocks what is behind it, unless its handler continues past dead letters',
    break: parking(({ reserve }) => ({
      reserve: (options) =>
        reserve(
          options.behind === undefined
            ? { ...options, pastDead: options.wanted.map(({ handler }) => handler) }
            : options,
        ),
    })),
  },
  {
    name: 'goes past no dead letter',
    caught: 'order: a dead letter blocks what is behind it, unless its handler continues past dead letters',
    break: parking(({ reserve }) => ({
      reserve: (options) => reserve(options.behind === undefined ? { ...options, pastDead: [] } : options),
    })),
  },
  {
    name: 'finds every scope free',
    caught: 'order: of many transactions that check and park at the same time, one finds the scope free',
    break: parking(() => ({ blocked: async (_, scopes) => scopes.map(() => false) })),
  },
  {
    name: 'looks at a scope without holding it',
    caught: 'order: a check waits while a rival holds the scope, and then sees what the rival has parked',
    on: 'simulated',
    break: parking((_, store) => ({
      blocked: (_, scopes) =>
        Promise.all(scopes.map(async ({ pastDead: _, ...scope }) => (await countParked(store, scope)) > 0)),
    })),
  },
  {
    name: 'looks at a scope and only then waits for it',
    caught: 'order: a check waits while a rival holds the scope, and then sees what the rival has parked',
    on: 'simulated',
    break: parking(({ blocked }, store) => ({
      async blocked(tx, scopes) {
        const seen = await Promise.all(
          scopes.map(async ({ pastDead: _, ...scope }) => (await countParked(store, scope)) > 0),
        )
        await blocked(tx, scopes)
        return seen
      },
    })),
  },
  {
    name: 'has one lock for all scopes',
    caught: 'order: a held scope does not block another key, or the same key of another handler',
    on: 'simulated',
    break: (store) => ({
      transaction: (work, options) => store.transaction(work, { lockTimeoutMs: 200, ...options }),
      parking: {
        ...store.parking,
        async blocked(tx, scopes) {
          await store.parking.blocked(tx, [{ handler: 'all', orderKey: 'all', pastDead: false }])
          return store.parking.blocked(tx, scopes)
        },
      },
    }),
  },
])
