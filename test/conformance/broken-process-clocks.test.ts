import { bindBrokenStores, facts, inbox, leases, parking, queue, retention } from './break-store.ts'

const held = new Map<string, { fence: number; endsAt: number }>()
const hiddenUntil = new Map<string, number>()
const sentAt = new Map<string, number>()

/** How far the clock of this process is ahead: a deadline that is counted from it is wrong by so much. */
const aheadMs = () => Math.round((Date.now() - performance.timeOrigin - performance.now()) / 10_000) * 10_000

const reservationCase =
  'time: a reservation and its renewal last as long as was asked for, whatever the clock of the process says'

/** Stores that write down and compare what the clock of their own process says, as is quickly done. */
bindBrokenStores([
  {
    name: 'counts leases by the clock of the process',
    caught: 'time: a lease lasts as long as was asked for, whatever the clock of its holder says',
    break: leases(() => ({
      async acquire(name, leaseMs) {
        const known = held.get(name)
        if (known !== undefined && known.endsAt > Date.now()) return undefined
        const fence = (known?.fence ?? 0) + 1
        held.set(name, { fence, endsAt: Date.now() + leaseMs })
        return { fence }
      },
    })),
  },
  {
    name: 'renews leases by the clock of the process',
    caught: 'time: a lease lasts as long as was asked for, whatever the clock of its holder says',
    break: leases(({ renew }) => ({
      renew: (name, fence, leaseMs) => renew(name, fence, leaseMs + aheadMs()),
    })),
  },
  {
    name: 'decides by the clock of the process what is due',
    caught: 'time: what is parked is due when the database says so, whatever the clock of the process says',
    break: parking(({ reserve, list, change }, store) => ({
      async reserve(options) {
        const early = (await list({ state: 'waiting' })).filter(({ nextAt }) => nextAt.getTime() <= Date.now())
        const now = early.map((row) => ({ ...row, kind: 'again', delayMs: 0 }) as const)
        await store.transaction((tx) => change(tx, now))
        return await reserve(options)
      },
    })),
  },
  {
    name: 'reserves until the clock of the process says so',
    caught: reservationCase,
    break: parking(({ reserve }) => ({
      reserve: (options) => reserve({ ...options, forMs: options.forMs + aheadMs() }),
    })),
  },
  {
    name: 'rebooks until the clock of the process says so',
    caught: reservationCase,
    break: parking(({ rebook }) => ({ rebook: (bookings, forMs) => rebook(bookings, forMs + aheadMs()) })),
  },
  {
    name: 'puts the next attempt off by the clock of the process',
    caught: reservationCase,
    break: parking(({ change }) => ({
      change: (tx, changes) =>
        change(
          tx,
          changes.map((each) => (each.kind === 'again' ? { ...each, delayMs: each.delayMs + aheadMs() } : each)),
        ),
    })),
  },
  {
    name: 'forgets suspects by the clock of the process',
    caught:
      'time: suspects are forgotten when the database says that it is time, whatever the clock of the process says',
    break: facts(({ change }) => ({
      change: (tx, changes) =>
        change(
          tx,
          changes.map((each) => ({ ...each, forMs: (each.forMs ?? 0) + aheadMs() })),
        ),
    })),
  },
  {
    name: 'hides what was taken once more by the clock of the process',
    caught:
      'time: a message hidden again stays hidden as long as was asked for, whatever the clock of the process says',
    break: queue(({ hide }) => ({ hide: (name, taken, ms, options) => hide(name, taken, ms + aheadMs(), options) })),
  },
  {
    name: 'dates records by the clock of the process',
    caught: 'time: what is recorded and parked is dated by the database, whatever the clock of the process says',
    break: inbox(({ claim, find }) => {
      const dates = new Map<string, Date>()
      return {
        async claim(tx, requests) {
          for (const { key } of requests) dates.set(key, new Date())
          return await claim(tx, requests)
        },
        async find(keys) {
          const records = await find(keys)
          const dateOf = (place: number) => dates.get(keys[place]?.key ?? '')
          return records.map(
            (record, place) => record && { ...record, processedAt: dateOf(place) ?? record.processedAt },
          )
        },
      }
    }),
  },
  {
    name: 'says when the next attempt is by the clock of the process',
    caught: 'time: what is recorded and parked is dated by the database, whatever the clock of the process says',
    break: parking(({ park, list }) => {
      const dates = new Map<string, number>()
      return {
        async park(tx, rows) {
          for (const { key, delayMs } of rows) dates.set(key, Date.now() + delayMs)
          return await park(tx, rows)
        },
        async list(...given) {
          const rows = await list(...given)
          return rows.map((row) => ({ ...row, nextAt: new Date(dates.get(row.key) ?? row.nextAt) }))
        },
      }
    }),
  },
  {
    name: 'counts the horizon from the clock of the process',
    caught: 'time: the horizon is counted from the time of the database, whatever the clock of the process says',
    break: retention(() => ({
      raise: async (keepMs) => ({ horizon: new Date(Date.now() - keepMs), now: new Date() }),
    })),
  },
  {
    name: 'hides what was taken by the clock of the process',
    caught:
      'time: what was taken from the queue is hidden as long as was asked for, whatever the clock of the process says',
    break: queue(({ take }) => ({
      async take(name, options) {
        if ((hiddenUntil.get(name) ?? 0) > Date.now()) return []
        const taken = await take(name, { ...options, visibilityMs: 1 })
        if (taken.length > 0) hiddenUntil.set(name, Date.now() + options.visibilityMs)
        return taken
      },
    })),
  },
  {
    name: 'dates what is sent to the queue by the clock of the process',
    caught:
      'time: the database says how long a message has waited in the queue, whatever the clock of the process says',
    break: queue(({ send, count }) => ({
      send(tx, name, messages) {
        sentAt.set(name, Date.now())
        return send(tx, name, messages)
      },
      count: async (name) => ({ ...(await count(name)), oldestMs: Date.now() - (sentAt.get(name) ?? 0) }),
    })),
  },
])
