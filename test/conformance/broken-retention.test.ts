import type { Retention } from '../../src/contracts/index.ts'
import { bindBrokenStores, facts, inbox, retention } from './break-store.ts'

const present = (given: Retention | undefined): Retention => given as Retention
const farAhead = new Date('2999-01-01')

bindBrokenStores([
  {
    name: 'claims whatever it has no record of, horizon or not',
    caught: 'horizon: a message born before it is too old to claim and leaves no record, however often it comes',
    break: inbox(({ claim }) => ({
      claim: (tx, requests) =>
        claim(
          tx,
          requests.map(({ born, ...request }) => request),
        ),
    })),
  },
  {
    name: 'calls a claim too old and makes a record all the same',
    caught: 'horizon: a message born before it is too old to claim and leaves no record, however often it comes',
    break: inbox(({ claim }) => ({
      async claim(tx, requests) {
        const answer = await claim(tx, requests)
        for (const place of answer.tooOld ?? []) await claim(tx, [{ ...requests[place]!, born: undefined }])
        return answer
      },
    })),
  },
  {
    name: 'calls everything too old that was born before the horizon',
    caught: 'horizon: a message born before it that has a record is a duplicate, whatever its state',
    break: inbox(({ claim }, store) => ({
      async claim(tx, requests) {
        const answer = await claim(tx, requests)
        const horizon = (await present(store.retention).horizon()) ?? new Date(0)
        const tooOld = new Set([...requests.keys()].filter((place) => (requests[place]?.born ?? farAhead) < horizon))
        return {
          ...answer,
          tooOld,
          existing: answer.existing.map((record, place) => (tooOld.has(place) ? undefined : record)),
        }
      },
    })),
  },
  {
    name: 'counts what was born at the horizon as too old',
    caught: 'horizon: what was born at it or after it is claimed',
    break: inbox(({ claim }, store) => ({
      async claim(tx, requests) {
        const answer = await claim(tx, requests)
        const horizon = (await present(store.retention).horizon())?.getTime()
        const at = [...requests.keys()].filter((place) => requests[place]?.born?.getTime() === horizon)
        return { ...answer, tooOld: new Set([...(answer.tooOld ?? []), ...at]) }
      },
    })),
  },
  {
    name: 'names too old ones by a place of its own',
    caught: 'horizon: one claim with old, new, known and timeless messages answers each in its place',
    break: inbox(({ claim }) => ({
      async claim(tx, requests) {
        const answer = await claim(tx, requests)
        return { ...answer, tooOld: new Set([...(answer.tooOld ?? [])].map((_, place) => place)) }
      },
    })),
  },
  {
    name: 'lowers the horizon when somebody wants to keep more',
    caught: 'horizon: it only moves forward, even if another process wants to keep more',
    break: retention(({ raise }) => {
      let last: Date | undefined
      return {
        async raise(keepMs) {
          const { now } = await raise(keepMs)
          last = new Date(now.getTime() - keepMs)
          return { horizon: last, now }
        },
        horizon: async () => last,
      }
    }),
  },
  {
    name: 'keeps the horizon to itself',
    caught:
      'horizon: there is none until it is raised; then every process sees it, and it follows the clock of the database',
    break: retention(() => {
      let own: Date | undefined
      return {
        async raise(keepMs) {
          own = new Date(Date.now() - keepMs)
          return { horizon: own, now: new Date(own.getTime() + keepMs) }
        },
        horizon: async () => own,
      }
    }),
  },
  {
    name: 'takes an id without a time for one of the beginning of time',
    caught: 'horizon: an id without a time is never too old',
    break: inbox(({ claim }) => ({
      claim: (tx, requests) =>
        claim(
          tx,
          requests.map((request) => ({ ...request, born: request.born ?? new Date(0) })),
        ),
    })),
  },
  {
    name: 'cannot claim what nothing was prepared for',
    caught: 'horizon: without one, claims of any time work, without anything prepared for them',
    break: inbox(({ claim }) => ({
      async claim(tx, requests) {
        if (requests.some(({ born }) => born !== undefined && born.getTime() > Date.now() + 14 * 86_400_000))
          throw new Error('no partition')
        return claim(tx, requests)
      },
    })),
  },
  {
    name: 'removes what was born later, too',
    caught: 'retention: remove removes what was born before, whatever its state, and nothing else',
    break: retention(({ raise, remove }) => ({
      async remove(options) {
        await raise(0)
        return await remove({ ...options, bornBefore: farAhead })
      },
    })),
  },
  {
    name: 'removes by the day',
    caught: 'retention: remove is exact within a day',
    break: retention(({ remove }) => ({
      remove: (options) => remove({ ...options, bornBefore: new Date(options.bornBefore.getTime() + 43_200_000) }),
    })),
  },
  {
    name: 'removes records without a time although nobody has said so',
    caught: 'retention: records without a time stay, however long ago they were processed',
    break: retention(({ remove }) => ({
      remove: ({ bornBefore, budgetMs }) => remove({ bornBefore, budgetMs, timelessBefore: bornBefore }),
    })),
  },
  {
    name: 'removes parked records without a time',
    caught:
      'retention: if asked to, remove also removes records without a time, by when they were processed, but never parked ones',
    break: retention(({ remove }, { inbox: { update }, transaction }) => ({
      async remove(options) {
        if (options.timelessBefore !== undefined)
          await transaction((tx) => update(tx, [{ handler: 'tag-note', key: 'parked', state: 'processed' }]))
        return remove(options)
      },
    })),
  },
  {
    name: 'says too early that there is no more to remove',
    caught: 'retention: many are removed, in as many steps as it takes',
    break: retention(({ remove }) => ({ remove: async (options) => ({ ...(await remove(options)), more: false }) })),
  },
  {
    name: 'does not find old records without their time',
    caught: 'retention: a record born long ago is found, changed and forgotten by its key alone',
    break: inbox(() => ({ find: async (keys) => keys.map(() => undefined) })),
  },
  {
    name: 'does not forget old records without their time',
    caught: 'retention: a record born long ago is found, changed and forgotten by its key alone',
    break: inbox(() => ({ forget: async () => 0 })),
  },
  {
    name: 'does not release a claim without its time',
    caught: 'retention: a claim with a time is released by its key alone, and with its time',
    break: inbox(({ update }) => ({
      update: (tx, changes) =>
        update(
          tx,
          changes.filter(({ born, state }) => born !== undefined || state !== 'unclaimed'),
        ),
    })),
  },
  {
    name: 'makes a record for each of two rivals with the same time',
    caught:
      'retention: equal keys with equal times are one record, also for rivals; other handlers and keys are separate',
    break: inbox(({ claim }) => ({
      claim: (tx, requests) =>
        claim(
          tx,
          requests.map((request) => ({ ...request, key: `${request.key} ${Math.random()}` })),
        ),
    })),
  },
  {
    name: 'cannot prepare twice',
    caught: 'retention: preparing twice at once, and again later, is no error, and claims continue meanwhile',
    break: retention(({ prepare }) => {
      let isPrepared = false
      return {
        async prepare(aheadMs) {
          if (isPrepared) throw new Error('it exists already')
          isPrepared = true
          await prepare(aheadMs)
        },
      }
    }),
  },
  {
    name: 'keeps the scheme that was pinned last',
    caught: 'retention: a handler keeps the scheme that was pinned first, even when two pin at once',
    break: facts(({ read, change }) => ({
      read: async (names) => names.map(() => undefined),
      async change(tx, changes) {
        const known = await read(changes.map(({ name }) => name))
        return await change(
          tx,
          changes.map((each, place) => ({ ...each, from: known[place]?.revision })),
        )
      },
    })),
  },
  {
    name: 'looks which scheme is pinned before it pins one',
    caught: 'retention: a handler keeps the scheme that was pinned first, even when two pin at once',
    break: facts(({ read, change }) => ({
      async change(tx, changes) {
        for (;;) {
          const known = await read(changes.map(({ name }) => name))
          const answers = await change(
            tx,
            changes.map((each, place) => ({ ...each, from: known[place]?.revision })),
          )
          if (!answers.includes(undefined)) return answers
        }
      },
    })),
  },
])
