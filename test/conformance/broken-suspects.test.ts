import { bindBrokenStores, comparesWithWhatItSees, facts } from './break-store.ts'

const looks = new Map<string, number>()

bindBrokenStores([
  {
    name: 'answers about facts in an order of its own',
    caught: 'suspects: each start is counted, across processes, with one answer each, in order',
    break: facts(({ read }) => ({ read: (names) => read(names.toSorted()) })),
  },
  {
    name: 'counts a process that only reads a fact',
    caught: 'suspects: reading changes nothing',
    break: facts(({ read }) => ({
      async read(names) {
        const found = await read(names)
        return found.map((fact, place) => {
          const name = names[place] ?? ''
          const looked = looks.get(name) ?? 0
          if (fact !== undefined) looks.set(name, looked + 1)
          return fact && { ...fact, value: String(Number(fact.value) + looked) }
        })
      },
    })),
  },
  {
    name: 'takes one fact for another',
    caught: 'suspects: ids of 100 characters are compared in full and case-sensitively',
    break: facts(({ remove }) => ({
      remove: (tx, which) =>
        remove(tx, 'expiredOf' in which ? which : [...which, ...which.map((name) => name.toLowerCase())]),
    })),
  },
  {
    name: 'sweeps away what still stands',
    caught: 'suspects: those whose last start was long ago are forgotten, and no others',
    break: facts(({ read, remove }) => {
      let isSwept = false
      return {
        read: async (names) => (isSwept ? names.map(() => undefined) : read(names)),
        async remove(tx, which) {
          if ('expiredOf' in which) isSwept = true
          else await remove(tx, which)
        },
      }
    }),
  },
  {
    name: 'reads facts whose time is over',
    caught: 'suspects: those whose last start was long ago are forgotten, and no others',
    break: facts(({ change }) => ({
      change: (tx, changes) =>
        change(
          tx,
          changes.map((each) => ({ ...each, forMs: undefined })),
        ),
    })),
  },
  {
    name: 'removes facts in a transaction of its own',
    caught: 'suspects: if the transaction that cleared them is rolled back, their starts still count',
    on: 'simulated',
    break: facts(({ remove }) => ({ remove: (_, which) => remove(undefined, which) })),
  },
  {
    name: 'ends what was to become less',
    caught: 'suspects: a start that is forgiven does not count, and forgiving too often gives no credit',
    break: facts(({ change }) => ({
      change: (tx, changes) =>
        change(
          tx,
          changes.map((each) => (each.from !== undefined && each.value === '1' ? { ...each, forMs: 0 } : each)),
        ),
    })),
  },
  {
    name: 'compares a fact with what it sees, and not with what was expected',
    caught:
      'suspects: processes that start the same ones in opposite order do not block each other, and all are counted',
    break: comparesWithWhatItSees,
  },
])
