import type { StoredParkedMessage } from '../../src/contracts/index.ts'
import { bindBrokenStores, parking } from './break-store.ts'

const replaced = new Map<string, Uint8Array>()

bindBrokenStores([
  {
    name: 'counts rows without an order key as rows of an empty one',
    caught: 'groups: rows are counted by their order key, the largest first; those without one have none',
    break: parking(({ tally }) => ({
      tally: async (filter, by, limit) =>
        (await tally(filter, by, limit)).map((each) =>
          'orderKey' in each ? { ...each, orderKey: each.orderKey ?? '' } : each,
        ),
    })),
  },
  {
    name: 'edits without a limit',
    caught: 'letters: discard removes the oldest that match, up to the limit, and returns their keys',
    break: parking(({ edit }) => ({ edit: (tx, filter, what) => edit(tx, filter, what, 1_000) })),
  },
  {
    name: 'discards what waits',
    caught: 'letters: waiting rows are never discarded, and if nothing matches, nothing is discarded',
    break: parking(({ edit }) => ({
      edit: (tx, { state: _, ...filter }, what, limit) => edit(tx, filter, what, limit),
    })),
  },
  {
    name: 'keeps the body that was replaced last rather than the first',
    caught: 'letters: an edited letter keeps the body that was received first, however often it is edited',
    break: parking(({ list, edit }) => {
      const withLast = (row: StoredParkedMessage) => ({ ...row, originalBody: replaced.get(row.key) })
      return {
        list: async (filter, page) => (await list(filter, page)).map(withLast),
        async edit(tx, filter, what, limit) {
          const [row] = await list(filter)
          if (row !== undefined) replaced.set(row.key, row.message.body)
          return edit(tx, filter, what, limit)
        },
      }
    }),
  },
  {
    name: 'edits what waits',
    caught: 'letters: rows that wait, are gone or belong to another handler are not edited',
    break: parking(({ edit }) => ({
      edit: (tx, { state: _, ...filter }, what, limit) => edit(tx, filter, what, limit),
    })),
  },
  {
    name: 'edits in a transaction of its own',
    caught: 'letters: an edit in a transaction that is rolled back changes nothing',
    on: 'simulated',
    break: parking(({ edit }, { transaction }) => ({
      edit: (_, filter, what, limit) => transaction((tx) => edit(tx, filter, what, limit)),
    })),
  },
  {
    name: 'marks what it has marked before',
    caught: 'letters: a transaction sees its own marks in its next edit',
    break: parking(({ edit }) => ({
      edit: (tx, { notInRedrives: _, ...filter }, what, limit) => edit(tx, filter, what, limit),
    })),
  },
  {
    name: 'names the smallest groups first',
    caught:
      'groups: dead letters with the same handler, reason and shape form one group; the largest come first, up to the limit',
    break: parking(({ tally }) => ({
      tally: async (filter, by, limit) => (await tally(filter, by, limit)).toReversed(),
    })),
  },
  {
    name: 'counts without a limit',
    caught:
      'tally: one answer for each combination, the largest first, up to the limit, with the first and the last time',
    break: parking(({ tally }) => ({ tally: (filter, by) => tally(filter, by) })),
  },
  {
    name: 'loses a note with the letters',
    caught: 'groups: a note outlives its letters and is still there when others fail in the same way',
    break: parking(({ edit }, { facts }) => ({
      async edit(tx, filter, what, limit) {
        const notes = await facts.list('note', 10)
        await facts.remove(
          tx,
          notes.map(({ name }) => name),
        )
        return edit(tx, filter, what, limit)
      },
    })),
  },
])
