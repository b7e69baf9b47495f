import { countLetters } from './count-parked.ts'
import { describeLetter } from './describe.ts'
import { discardLetters } from './discard-letters.ts'
import { decideFilter } from './letter-filter.ts'
import { listRows } from './list-rows.ts'
import { annotate, notesOf } from './notes.ts'
import { preview } from './preview.ts'
import { redriveLetters } from './redrive-letters.ts'
import { listRedrives, withRunningMarks } from './redrives.ts'
import { redriveStatus, stopRedrive } from './running-redrives.ts'
import { checkKey } from './selection.ts'
import type { Site } from './site.ts'
import type { LetterOperations } from './types.ts'
import { checkWhole, mostListed } from './who-and-why.ts'

/** Every method is async, so that every error arrives as a rejection. */
export function letterOperations<Tx>(site: Site<Tx>): LetterOperations {
  const { store } = site
  return {
    async list(filter = {}, page = {}) {
      return (await listRows(store, 'dead', filter, page)).map(describeLetter)
    },
    async get(key) {
      const rows = await store.parking.list({ state: 'dead', ...checkKey(key) }, { limit: 1 })
      return (await withRunningMarks(store, rows)).map(describeLetter)[0]
    },
    async groups(filter = {}, limit = 100) {
      checkWhole(limit, 'limit', 1, mostListed)
      const groups = await store.parking.tally(decideFilter(filter, 'dead'), ['handler', 'reason', 'shape'], limit)
      const notes = await notesOf(store, groups)
      return groups.map((group, place) => ({ ...group, note: notes[place] }))
    },
    counts: async () => await countLetters(store),
    annotate: async (group, note, whoAndWhy) => await annotate(site, group, note, whoAndWhy),
    preview: async (selection) => await preview(site, selection),
    redrive: async (selection, options) => await redriveLetters(site, selection, options),
    discard: async (selection, whoAndWhy) => await discardLetters(site, selection, whoAndWhy),
    async redrives(limit = 100) {
      checkWhole(limit, 'limit', 1, mostListed)
      return await listRedrives(store, limit)
    },
    redriveStatus: async (id) => await redriveStatus(site, id),
    stopRedrive: async (id, whoAndWhy) => await stopRedrive(site, id, whoAndWhy),
  }
}
