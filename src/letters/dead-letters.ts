import type { Engine } from '../engine/engine.ts'
import { checkOptions, JustonceError } from '../errors/index.ts'
import { describeLetters } from './dead-letter.ts'
import { discardLetters } from './discard-letters.ts'
import { checkGroup, checkText, decideFilter } from './letter-filter.ts'
import { operableEngine } from './operable-engine.ts'
import { mostBytes } from './pages.ts'
import { preview } from './preview.ts'
import { redriveLetters } from './redrive-letters.ts'
import { redriveStatus, stopRedrive } from './running-redrives.ts'
import { checkKey } from './selection.ts'
import { checkSignature, checkWhole } from './signature.ts'
import type { AuditedAction, DeadLetters } from './types.ts'

const mostListed = 1_000
const longestNote = 2_000

export function deadLetters<Tx>(engine: Engine<Tx>): DeadLetters {
  const { store } = engine
  /** Asked only by what needs more than reading. */
  const operable = () => operableEngine(engine)
  return {
    async list(filter = {}, page = {}) {
      checkOptions(page, ['limit', 'after'], 'The page of a list')
      const { limit = 100, after = 0 } = page
      checkWhole(limit, 'limit', 1, mostListed)
      checkWhole(after, 'after', 0, Number.MAX_SAFE_INTEGER)
      const rows = await store.parking.list(decideFilter(filter), { limit, after, maxBytes: mostBytes })
      return await describeLetters(engine, rows)
    },
    async get(key) {
      const rows = await store.parking.list({ state: 'dead', ...checkKey(key) }, { limit: 1 })
      return (await describeLetters(engine, rows))[0]
    },
    async groups(filter = {}, limit = 100) {
      checkWhole(limit, 'limit', 1, mostListed)
      const { state: _, ...rest } = decideFilter(filter)
      return await operable().store.letters.groups(rest, limit)
    },
    async annotate({ handler, reason, shape }, note, signature) {
      const { by, why } = checkSignature(signature, 'annotate()')
      const group = { handler, reason, shape }
      checkGroup(group)
      checkText(note, 'The note')
      if (note.length > longestNote) {
        throw new JustonceError('OPTION_INVALID', {
          message: `The note has ${note.length} characters, more than ${longestNote}.`,
        })
      }
      const { letters, audit } = operable().store
      await store.transaction(async (tx) => {
        await letters.annotate(tx, group, note)
        const subject = JSON.stringify({ ...group, note })
        await audit.append(tx, [{ action: 'annotate', by, why, subject }])
      })
    },
    preview: (selection) => preview(engine, selection),
    redrive: (selection, options) => redriveLetters(operable(), selection, options),
    discard: (selection, signature) => discardLetters(operable(), selection, signature),
    async redrives(limit = 100) {
      checkWhole(limit, 'limit', 1, mostListed)
      return await operable().store.redrives.list(limit)
    },
    redriveStatus: (id) => redriveStatus(operable(), id),
    stopRedrive: (id, signature) => stopRedrive(operable(), id, signature),
  }
}

/** What people did, the latest first. */
export async function auditedActions<Tx>(engine: Engine<Tx>, limit = 100): Promise<readonly AuditedAction[]> {
  checkWhole(limit, 'limit', 1, mostListed)
  const entries = await operableEngine(engine).store.audit.list(limit)
  return entries.map(({ subject, ...entry }) => ({ ...entry, subject: JSON.parse(subject) as unknown }))
}
