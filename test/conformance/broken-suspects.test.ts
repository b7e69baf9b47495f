import { bindBrokenStores, comparesWithWhatItSees, facts } from './break-store.ts'

const looks = new Map<string, number>()

bindBrokenStores([
  {
    name: 'answers about facts in an order of its own',
    caught: 'suspects: each beginning is counted, for every process, one answer each in the order asked',
    break: facts(({ read }) => ({ read: (names) => read(names.toSorted()) })),
  },
  {
    name: 'counts whoever reads a fact',
    caught: 'suspects: to look changes nothing',
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
    caught: 'suspects: ids are told apart to the last of 100 characters, and by case',
    break: facts(({ remove }) => ({
      remove: (tx, which) =>
        remove(tx, 'expiredOf' in which ? which : [...which, ...which.map((name) => name.toLowerCase())]),
    })),
  },
  {
    name: 'sweeps away what still stands',
    caught: 'suspects: those whose last beginning is long ago are forgotten, and no others',
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
    caught: 'suspects: those whose last beginning is long ago are forgotten, and no others',
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
    caught: 'suspects: when the transaction that cleared them is undone their beginnings still count',
    on: 'simulated',
    break: facts(({ remove }) => ({ remove: (_, which) => remove(undefined, which) })),
  },
  {
    name: 'ends what was to become less',
    caught: 'suspects: one beginning that is forgiven does not count, and none is left over for later',
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
      'suspects: processes that begin the same ones in opposite order do not stop each other, and all are counted',
    break: comparesWithWhatItSees,
  },
])
