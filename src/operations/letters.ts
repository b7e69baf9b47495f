import { JustonceError } from '../errors/index.ts'
import { describeLetter } from './describe.ts'
import { discardLetters } from './discard-letters.ts'
import { checkGroup, checkText, decideFilter } from './letter-filter.ts'
import { listRows } from './list-rows.ts'
import { preview } from './preview.ts'
import { redriveLetters } from './redrive-letters.ts'
import { redriveStatus, stopRedrive } from './running-redrives.ts'
import { checkKey } from './selection.ts'
import { checkSignature, checkWhole, mostListed } from './signature.ts'
import { operable, type Site } from './site.ts'
import type { LetterOperations } from './types.ts'

const longestNote = 2_000

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
      return await operable(site).store.letters.groups(rest, limit)
    },
    async annotate(given, note, signature) {
      const { by, why } = checkSignature(signature, 'annotate()')
      checkGroup(given)
      const { handler, reason, shape } = given
      const group = { handler, reason, shape }
      checkText(note, 'The note')
      if (note.length > longestNote) {
        throw new JustonceError('OPTION_INVALID', {
          message: `The note has ${note.length} characters, more than ${longestNote}.`,
        })
      }
      const { letters, audit } = operable(site).store
      await store.transaction(async (tx) => {
        await letters.annotate(tx, group, note)
        const subject = JSON.stringify({ ...group, note })
        await audit.append(tx, [{ action: 'annotate', by, why, subject }])
      })
    },
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
