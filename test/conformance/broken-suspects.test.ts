import { bindBrokenStores, suspects } from './break-store.ts'

const counts = new Map<string, number>()

bindBrokenStores([
  {
    name: 'answers about suspects in an order of its own',
    caught: 'suspects: each beginning is counted, for every process, one answer each in the order asked',
    break: suspects(({ look }) => ({ look: (ids) => look(ids.toSorted()) })),
  },
  {
    name: 'counts whoever looks at a suspect',
    caught: 'suspects: to look changes nothing',
    break: suspects(({ look, begin }) => ({
      async look(ids) {
        await begin(ids)
        return (await look(ids)).map((count) => count - 1)
      },
    })),
  },
  {
    name: 'takes one suspect for another',
    caught: 'suspects: ids are told apart to the last of 100 characters, and by case',
    break: suspects(({ clear }) => ({ clear: (tx, ids) => clear(tx, [...ids, ...ids.map((id) => id.toLowerCase())]) })),
  },
  {
    name: 'forgets suspects however lately they began',
    caught: 'suspects: those whose last beginning is long ago are forgotten, and no others',
    break: suspects(({ look, forget }) => {
      let isForgotten = false
      return {
        look: async (ids) => (isForgotten ? ids.map(() => 0) : look(ids)),
        forget: async (olderThanMs) => {
          isForgotten = true
          await forget(olderThanMs)
        },
      }
    }),
  },
  {
    name: 'clears suspects in a transaction of its own',
    caught: 'suspects: when the transaction that cleared them is undone their beginnings still count',
    on: 'simulated',
    break: suspects(({ clear }, { transaction }) => ({ clear: (_, ids) => transaction((tx) => clear(tx, ids)) })),
  },
  {
    name: 'forgives everything at once',
    caught: 'suspects: one beginning that is forgiven does not count, and none is left over for later',
    break: suspects(({ clear }, { transaction }) => ({ forgive: (ids) => transaction((tx) => clear(tx, ids)) })),
  },
  {
    name: 'loses a beginning when two begin at the same time',
    caught:
      'suspects: processes that begin the same ones in opposite order do not stop each other, and all are counted',
    break: suspects(({ look }) => ({
      async begin(ids) {
        const seen = ids.map((id) => counts.get(id) ?? 0)
        await look(ids)
        for (const [place, id] of ids.entries()) counts.set(id, (seen[place] ?? 0) + 1)
      },
      look: async (ids) => ids.map((id) => counts.get(id) ?? 0),
    })),
  },
])
