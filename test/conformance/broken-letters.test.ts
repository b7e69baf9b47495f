import type { StoredParkedMessage } from '../../src/contracts/index.ts'
import { bindBrokenStores, letters } from './break-store.ts'

const replaced = new Map<string, Uint8Array>()

bindBrokenStores([
  {
    name: 'discards without a limit',
    caught: 'letters: discard removes the oldest that fit, up to the limit, and tells which they were',
    break: letters(({ discard }) => ({ discard: (tx, filter) => discard(tx, filter, 1_000) })),
  },
  {
    name: 'discards what waits',
    caught: 'letters: what waits is never discarded, and where nothing fits nothing is',
    break: letters((_, { parking: { list, change } }) => ({
      async discard(tx, filter, limit) {
        const rows = await list(filter, { limit })
        await change(
          tx,
          rows.map(({ handler, key }) => ({ handler, key, kind: 'done' })),
        )
        return rows
      },
    })),
  },
  {
    name: 'keeps the body that was replaced last rather than the first',
    caught: 'letters: an edited letter keeps the body that was received first, however often it is edited',
    break: (store) => {
      const withLast = (row: StoredParkedMessage) => ({ ...row, originalBody: replaced.get(row.key) })
      return {
        letters: {
          ...store.letters,
          async replace(tx, key, message) {
            const [row] = await store.parking.list(key)
            if (row !== undefined) replaced.set(row.key, row.message.body)
            return store.letters.replace(tx, key, message)
          },
        },
        parking: {
          ...store.parking,
          list: async (filter, page) => (await store.parking.list(filter, page)).map(withLast),
        },
      }
    },
  },
  {
    name: 'edits what waits',
    caught: 'letters: what waits, is gone or belongs to another handler is not edited',
    break: letters(({ replace }, { parking: { change } }) => ({
      async replace(tx, { handler, key }, message) {
        await change(tx, [
          { handler, key, kind: 'dead', attempts: 1, reason: 'HANDLER_FAILED', errors: '[]', shape: '' },
        ])
        return replace(tx, { handler, key }, message)
      },
    })),
  },
  {
    name: 'names the smallest groups first',
    caught: 'groups: dead letters of one handler, reason and shape are one, the largest first, up to the limit',
    break: letters(({ groups }) => ({ groups: async (filter, limit) => (await groups(filter, limit)).toReversed() })),
  },
  {
    name: 'loses a note with the letters',
    caught: 'groups: a note outlives its letters and is there when others die of the same',
    break: letters(({ discard }, { facts }) => ({
      async discard(tx, filter, limit) {
        await facts.remove(
          tx,
          (await facts.list('note', 10)).map(({ name }) => name),
        )
        return discard(tx, filter, limit)
      },
    })),
  },
])
