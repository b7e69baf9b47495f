import type { ParkedFilter, Parking } from '../../src/contracts/index.ts'
import { bindBrokenStores, parking } from './break-store.ts'

/** Lists by a filter without error text, and then looks at the texts in a way of its own. */
const findingText = (fits: (errors: string, text: string) => boolean) => {
  return parking(({ list }: Parking<unknown>) => ({
    async list({ errorText, ...filter }: ParkedFilter = {}) {
      const rows = await list(filter)
      return errorText === undefined ? rows : rows.filter(({ errors }) => fits(errors, errorText))
    },
  }))
}

const errorTexts = 'filter: errorText is found as it is spelled, whatever it means to the database or to JSON'

bindBrokenStores([
  {
    name: 'does not look at the business id',
    caught:
      'filter: each field finds the rows that match it, in the order of parking, and all fields together those that match all',
    break: parking(({ list, tally }) => ({
      list: ({ businessId: _, ...filter } = {}, page) => list(filter, page),
      tally: ({ businessId: _, ...filter }, by, limit) => tally(filter, by, limit),
    })),
  },
  {
    name: 'forgets the business id',
    caught: 'parking: every field of a parked message is returned',
    break: parking(({ park }) => ({
      park: (tx, messages) =>
        park(
          tx,
          messages.map(({ businessId: _, ...message }) => message),
        ),
    })),
  },
  {
    name: 'lists whatever fits the limit, however large',
    caught: 'paging: the bytes of a page are limited, but one row is always returned',
    break: parking(({ list }) => ({
      list: (filter, { maxBytes: _, ...page } = {}) => list(filter, page),
    })),
  },
  {
    name: 'takes errorText for a pattern',
    caught: errorTexts,
    break: findingText((errors, text) =>
      new RegExp(
        text
          .replace(/[\\.*?[\]]/g, '\\$&')
          .replaceAll('%', '.*')
          .replaceAll('_', '.'),
      ).test(errors),
    ),
  },
  {
    name: 'finds errorText in any spelling',
    caught: errorTexts,
    break: findingText((errors, text) => errors.toLowerCase().includes(text.toLowerCase())),
  },
  {
    name: 'leaves out the moment itself from since',
    caught: 'filter: since is inclusive and before is exclusive, by changedAt',
    break: parking(({ list }) => ({
      list: ({ since, ...filter } = {}, page) =>
        list({ ...filter, since: since && new Date(since.getTime() + 1) }, page),
    })),
  },
  {
    name: 'finds everything when asked for none of it',
    caught: 'filter: of the given keys, exactly those that match the rest are found, and an empty list finds nothing',
    break: parking(({ list }) => ({
      list: (filter = {}, page) => list({ ...filter, keys: filter.keys?.length ? filter.keys : undefined }, page),
    })),
  },
  {
    name: 'counts rows where the place of a row is asked for',
    caught: 'paging: page by page, every row comes once, in the order of parking, even if rows disappear in between',
    break: parking(({ list }) => ({
      async list(filter, page = {}) {
        const { limit = 1_000, after } = page
        const rows = await list(filter)
        const place = after === undefined ? 0 : rows.filter(({ sequence }) => sequence <= after).length + 1
        return rows.slice(place, place + limit)
      },
    })),
  },
])

/** Finds and edits intents, too, as every store did before there were any. */
const blindToKinds = parking(({ list, tally, edit }) => ({
  list: (filter, page) => list({ kind: 'any', ...filter }, page),
  tally: (filter, by, limit) => tally({ kind: 'any', ...filter }, by, limit),
  edit: (tx, filter, change, limit) => edit(tx, { kind: 'any', ...filter }, change, limit),
}))

bindBrokenStores(
  [
    'intents: a filter that does not ask for them finds and counts none, whatever else it asks for',
    'intents: an edit that does not ask for them changes none',
    'intents: what operators do with dead letters and retries, even with all of them, leaves intents alone',
    'delayed: only a filter that asks for delayed messages finds them',
    'delayed: what operators do with retries and dead letters, even with all of them, leaves delayed messages alone',
  ].map((caught) => ({
    name: `takes intents and delayed messages for messages (${caught})`,
    caught,
    break: blindToKinds,
  })),
)
