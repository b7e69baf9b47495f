import { describeLetter } from './describe.ts'
import { discardLetters } from './discard-letters.ts'
import { decideFilter } from './letter-filter.ts'
import { listRows } from './list-rows.ts'
import { annotate, notesOf } from './notes.ts'
import { preview } from './preview.ts'
import { redriveLetters } from './redrive-letters.ts'
import { redriveStatus, stopRedrive } from './running-redrives.ts'
import { checkKey } from './selection.ts'
import { checkWhole, mostListed } from './signature.ts'
import { operable, type Site } from './site.ts'
import type { LetterOperations } from './types.ts'

/** Every method is async, so that whatever is wrong arrives as a rejection. */
export function letterOperations<Tx>(site: Site<Tx>): LetterOperations {
  const { store } = site
  return {
    async list(filter = {}, page = {}) {
      return (await listRows(store.parking, 'dead', filter, page)).map(describeLetter)
    },
    async get(key) {
      return (await store.parking.list({ state: 'dead', ...checkKey(key) }, { limit: 1 })).map(describeLetter)[0]
    },
    async groups(filter = {}, limit = 100) {
      checkWhole(limit, 'limit', 1, mostListed)
      const { state: _, ...rest } = decideFilter(filter, 'dead')
      const groups = await operable(site).store.letters.groups(rest, limit)
      const notes = await notesOf(store, groups)
      return groups.map((group, place) => ({ ...group, note: notes[place] }))
    },
    annotate: async (group, note, signature) => await annotate(site, group, note, signature),
    preview: async (selection) => await preview(site, selection),
    redrive: async (selection, options) => await redriveLetters(operable(site), selection, options),
    discard: async (selection, signature) => await discardLetters(operable(site), selection, signature),
    async redrives(limit = 100) {
      checkWhole(limit, 'limit', 1, mostListed)
      return await operable(site).store.redrives.list(limit)
    },
    redriveStatus: async (id) => await redriveStatus(operable(site), id),
    stopRedrive: async (id, signature) => await stopRedrive(operable(site), id, signature),
  }
}
