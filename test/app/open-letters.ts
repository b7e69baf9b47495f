import { none } from '../../src/index.ts'
import { note, type OpenAppOptions, openApp, write } from './open-app.ts'

/** A failure that is never tried again by itself. */
export const once = { retry: { backoff: none }, breaker: false } as const

export const ana = { by: 'ana' } as const

/** An app with one handler, which fails until it is fixed, and the dead letters that it has made. */
export async function withLetters(ids: readonly string[], options: OpenAppOptions = {}) {
  const opened = openApp(options)
  const broken = new Set<string>(ids)
  const runs: string[] = []
  opened.app.on('note.created', { name: 'tag-note', ...once }, ({ id }, { tx }) => {
    runs.push(id)
    write(tx, id)
    if (broken.has(id)) throw new Error(`no "${id}"`)
  })
  await opened.handle(...ids.map((id) => note(id)))
  runs.length = 0
  return {
    ...opened,
    letters: opened.app.operations.letters,
    /** The ids that the handler was given since the letters died, in order. */
    runs,
    /** From now on these succeed; all of them if none is named. */
    repair: (...repaired: readonly string[]) => {
      for (const id of repaired.length > 0 ? repaired : ids) broken.delete(id)
    },
    /** Lets the loops of the app look, as often as is said. */
    async rounds(count = 3): Promise<void> {
      for (let round = 0; round < count; round++) await opened.clock.advance(1_000)
    },
    /** The keys of what is dead. */
    dead: async () => (await opened.store.parking.list({ state: 'dead' })).map(({ key }) => key),
  }
}

export const letter = (key: string, handler = 'tag-note') => ({ handler, key })
