import { bindBrokenStores, inbox } from './break-store.ts'

const restored =
  'restored: a database restored to an earlier state has another epoch, for stores opened before and since'
const renewed = 'epoch: an operator can request a new one, which every process sees, and nothing else changes'

bindBrokenStores([
  {
    name: 'has nothing but a row for its epoch, which comes back with a backup',
    caught: restored,
    on: 'simulated',
    break: inbox(({ claim }) => ({
      async claim(tx, requests) {
        const answer = await claim(tx, requests)
        return { ...answer, epoch: answer.epoch.split('.')[0] ?? '' }
      },
    })),
  },
  {
    name: 'asks for the epoch once, when it is opened',
    caught: restored,
    on: 'simulated',
    break: inbox(({ claim }) => {
      let epoch: string | undefined
      return {
        async claim(tx, requests) {
          const answer = await claim(tx, requests)
          epoch ??= answer.epoch
          return { ...answer, epoch }
        },
      }
    }),
  },
  {
    name: 'has no new epoch for an operator',
    caught: renewed,
    break: inbox(({ forget }) => ({ forget: async (tx, keys) => (keys.length === 0 ? 0 : await forget(tx, keys)) })),
  },
  {
    name: 'changes the epoch beside the transaction',
    caught: renewed,
    on: 'simulated',
    break: inbox(({ forget }, store) => ({
      forget: (_, keys) => store.transaction((tx) => forget(tx, keys)),
    })),
  },
  {
    name: 'goes back and forth between two epochs',
    caught: renewed,
    break: inbox(({ claim }) => {
      const seen: string[] = []
      return {
        async claim(tx, requests) {
          const answer = await claim(tx, requests)
          if (!seen.includes(answer.epoch)) seen.push(answer.epoch)
          return { ...answer, epoch: String(seen.indexOf(answer.epoch) % 2) }
        },
      }
    }),
  },
])
