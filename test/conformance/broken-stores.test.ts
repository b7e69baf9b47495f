import type { Inbox, Store } from '../../src/contracts/index.ts'
import { type BrokenStore, bindBrokenStores, inbox, parking, parts, reporting } from './break-store.ts'

/** Changes records in another way once the last writes of a transaction have begun. */
function withLastUpdates(store: Store, update: Inbox<unknown>['update']): Partial<Store> {
  const ending = new WeakSet<object>()
  return {
    transaction: (work, options) => store.transaction((tx) => work(tx, () => void ending.add(tx as object)), options),
    inbox: {
      ...store.inbox,
      update: (tx, changes) => (ending.has(tx as object) ? update : store.inbox.update)(tx, changes),
    },
  }
}

bindBrokenStores([
  {
    name: 'answers every claim with first',
    caught: 'claim: of two racing transactions one is first, the other sees its record',
    break: inbox(({ claim }) => ({
      claim: async (tx, requests) => ({ ...(await claim(tx, requests)), existing: requests.map(() => undefined) }),
    })),
  },
  {
    name: 'takes what it had to wait for as processed',
    caught: 'claim: a rival that has waited for a message that failed sees it as parked',
    on: 'simulated',
    break: inbox(({ claim, find }) => ({
      async claim(tx, requests) {
        const before = await find(requests)
        const { existing, ...answer } = await claim(tx, requests)
        const seen = existing.map((record, place) =>
          record && before[place] === undefined ? { ...record, state: 'processed' as const } : record,
        )
        return { ...answer, existing: seen }
      },
    })),
  },
  {
    name: 'answers in an order of its own',
    caught: 'claim: answers come in the order of the requests, with known and new ones mixed',
    break: inbox(({ claim }) => ({
      async claim(tx, requests) {
        const answer = await claim(tx, requests)
        return {
          ...answer,
          existing: answer.existing.toSorted((a, b) => Number(a === undefined) - Number(b === undefined)),
        }
      },
    })),
  },
  {
    name: 'does not tell upper from lower case',
    caught: 'keys: upper and lower case differ',
    break: inbox(({ claim }) => ({
      claim: (tx, requests) =>
        claim(
          tx,
          requests.map((each) => ({ ...each, key: each.key.toLowerCase() })),
        ),
    })),
  },
  {
    name: 'pays no heed to spaces at the end',
    caught: 'keys: spaces at the end and at the beginning differ',
    break: inbox(({ claim }) => ({
      claim: (tx, requests) =>
        claim(
          tx,
          requests.map((each) => ({ ...each, key: each.key.trimEnd() })),
        ),
    })),
  },
  {
    name: 'normalises keys',
    caught: 'keys: composed and combining forms of a letter differ',
    break: inbox(({ claim }) => ({
      claim: (tx, requests) =>
        claim(
          tx,
          requests.map((each) => ({ ...each, key: each.key.normalize() })),
        ),
    })),
  },
  {
    name: 'cuts long keys',
    caught: 'keys: 255 characters are kept to the last one',
    break: inbox(({ claim }) => ({
      claim: (tx, requests) =>
        claim(
          tx,
          requests.map((each) => ({ ...each, key: each.key.slice(0, 254) })),
        ),
    })),
  },
  {
    name: 'forgets without changing the epoch',
    caught: 'record: forget lets a message run again, and every cache in every process notices',
    break: inbox(({ claim }) => ({
      claim: async (tx, requests) => ({ ...(await claim(tx, requests)), epoch: 'always the same' }),
    })),
  },
  {
    name: 'keeps what was released',
    caught: 'record: release gives a claim back, and only that one',
    break: inbox(({ update }) => ({
      update: (tx, changes) =>
        update(
          tx,
          changes.filter(({ state }) => state !== 'unclaimed'),
        ),
    })),
  },
  {
    name: 'keeps the time of the claim when a record is updated',
    caught: 'time: processedAt is the time of the last update, whatever the update changes',
    break: inbox(({ find }) => {
      let first: Date | undefined
      return {
        async find(keys) {
          const records = await find(keys)
          first ??= records[0]?.processedAt
          return records.map((record) => record && { ...record, processedAt: first ?? record.processedAt })
        },
      }
    }),
  },
  {
    name: 'keeps a result that an update has removed',
    caught: 'record: an update without a result removes the one that was there',
    break: inbox(({ find }) => {
      let last: string | undefined
      return {
        async find(keys) {
          const records = await find(keys)
          last = records[0]?.result ?? last
          return records.map((record) => record && { ...record, result: record.result ?? last })
        },
      }
    }),
  },
  {
    name: 'loses the fingerprint',
    caught: 'claim: a rival waits for the undecided one and then sees its record, fingerprint and time',
    break: inbox(({ claim }) => ({
      claim: (tx, requests) =>
        claim(
          tx,
          requests.map((each) => ({ ...each, fingerprint: undefined })),
        ),
    })),
  },
  {
    name: 'sends a boundary long after it was asked to',
    caught: 'parts: what is run behind a boundary that nobody has waited for belongs to the new part',
    on: 'simulated',
    break: parts(({ undo }) => ({
      async undo(tx) {
        await new Promise((resolve) => setTimeout(resolve, 1_000))
        // By then the transaction may be over, and nobody waits for this one.
        await undo(tx).catch(() => {})
      },
    })),
  },
  {
    name: 'forgets writes that were to travel with the commit',
    caught: 'last writes: all of them are there after the commit, with what was written before',
    on: 'simulated',
    break: (store) => withLastUpdates(store, async () => {}),
  },
  {
    name: 'commits although a write that travelled with the commit has failed',
    caught: 'last writes: if one fails, nothing is committed, and the error is what is made of it',
    on: 'simulated',
    break: (store) =>
      withLastUpdates(store, async (tx, changes) => {
        const records = await store.inbox.find(changes)
        await store.inbox.update(
          tx,
          changes.filter((_, place) => records[place] !== undefined),
        )
      }),
  },
  {
    name: 'does not say that the write that travelled with the commit was what failed',
    caught: 'last writes: if one fails, nothing is committed, and the error is what is made of it',
    on: 'simulated',
    break: (store) => ({
      transaction: (work, options) =>
        store.transaction((tx, lastWrites) => work(tx, lastWrites && (() => lastWrites((error) => error))), options),
    }),
  },
  {
    name: 'blames the last writes for what was wrong before',
    caught: 'last writes: a database error that was swallowed before is not blamed on them',
    on: 'simulated',
    break: (store) => ({
      async transaction(work, options) {
        let blame = (error: unknown): unknown => error
        try {
          return await store.transaction(
            (tx) =>
              work(tx, (given) => {
                blame = given
              }),
            options,
          )
        } catch (error) {
          throw blame(error)
        }
      },
    }),
  },
  {
    name: 'commits although the work has failed',
    caught: 'transaction: work that throws leaves nothing: no record, no effect, no parked or queued message',
    break: (store) => ({
      async transaction(work, options) {
        let failure: { readonly error: unknown } | undefined
        const value = await store.transaction(async (tx) => {
          try {
            return await work(tx)
          } catch (error) {
            failure = { error }
            return undefined as never
          }
        }, options)
        if (failure !== undefined) throw failure.error
        return value
      },
    }),
  },
  {
    name: 'pays no heed to its signal',
    caught: 'abort: a transaction that waits for a rival gives up',
    break: (store) => ({
      transaction: (work, options = {}) => {
        const { signal, ...rest } = options
        const transaction = store.transaction(work, rest)
        const aborted = new Promise<never>((_, reject) =>
          signal?.addEventListener('abort', () => reject(signal.reason)),
        )
        return Promise.race([transaction, aborted])
      },
    }),
  },
  {
    name: 'lends the native client itself',
    caught: 'loan: after its end every call is refused with TX_CLOSED, names the borrower and is reported',
    break: (store) => ({ lend: (tx, options) => ({ ...store.lend(tx, options), tx }) }),
  },
  {
    name: 'lets all borrowers share the names of their savepoints',
    caught:
      'loan savepoints: a savepoint that an earlier borrower left open cannot be rolled back to, and its effect stays',
    break: (store) => ({ lend: (tx, options) => ({ ...store.lend(tx, options), tx }) }),
  },
  {
    name: 'refuses a commit but does not remember it',
    caught: 'loan control: every way to begin, commit or roll back is refused with TX_CONTROL, and broken says so',
    break: reporting({ broken: undefined }),
  },
  {
    name: 'undoes no part',
    caught: 'parts: undo rolls back its own part; the earlier and later ones stay',
    break: parts(() => ({ undo: async () => {} })),
  },
  {
    name: 'lets the work inside a joined transaction stand although it has failed',
    caught: 'within: work that fails is rolled back, and the transaction of the caller continues',
    break: (store) => ({ within: (tx) => ({ ...store.within(tx), savepoint: (work) => work() }) }),
  },
  {
    name: 'joins a transaction that is over',
    caught: 'within: a tx whose transaction has ended is refused before anything is done',
    break: () => ({ within: () => ({ savepoint: <T>(work: () => Promise<T>) => work() }) as never }),
  },
  {
    name: 'takes every error for a conflict',
    caught: 'basics: errors that did not come from the store are classified as none',
    break: () => ({ classify: () => 'conflict' }),
  },
  {
    name: 'never says that a conflict is one',
    caught: 'locks: a claim that another transaction holds for too long is a conflict, and the store works afterwards',
    break: () => ({ classify: () => 'none' }),
  },
  ...[
    'identity: two processes whose handlers want the same rows in different order lose and double nothing',
    'identity: waiting again and again for a row that another holds for long is no failure of the handler',
  ].map(
    (caught): BrokenStore => ({
      name: `blames a handler for a row that another holds, under the engine (${caught})`,
      caught,
      on: 'simulated',
      break: reporting({ trouble: 'none' }),
    }),
  ),
  {
    name: 'lends the native client, under the engine',
    caught:
      'handler misuse: a call that a failed handler left running does not write into the transaction of its neighbour',
    break: (store) => ({ lend: (tx, options) => ({ ...store.lend(tx, options), tx }) }),
  },
  {
    name: 'keeps its epoch, under the engine',
    caught:
      'identity: a message that an operator has made the store forget runs again, although this process remembers it',
    break: inbox(({ claim }) => ({
      claim: async (tx, requests) => ({ ...(await claim(tx, requests)), epoch: 'always the same' }),
    })),
  },
  {
    name: 'parks nothing, under the engine',
    caught:
      'failure: its effects are gone, its record is parked, its attempt is counted, and its neighbours are processed',
    break: parking(() => ({ park: async () => {} })),
  },
  {
    name: 'marks no record as parked, under the engine',
    caught: 'failure: a duplicate of a parked message is acknowledged and does not run, wherever it arrives',
    break: inbox(({ update }) => ({
      update: (tx, changes) =>
        update(
          tx,
          changes.map(({ handler, key, born }) => ({ handler, key, born, state: 'unclaimed' })),
        ),
    })),
  },
])
