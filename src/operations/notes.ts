import { hash } from 'node:crypto'
import type { Store } from '../contracts/index.ts'
import { JustonceError } from '../errors/index.ts'
import { keepAudit } from './audit.ts'
import { checkGroup, checkText } from './letter-filter.ts'
import { despiteRivals, RivalError } from './rivals.ts'
import type { Site } from './site.ts'
import type { LetterGroup, WhoAndWhy } from './types.ts'
import { checkWhoAndWhy } from './who-and-why.ts'

const longestNote = 2_000

/** One entry per group; `undefined` if it has no note. */
export async function notesOf<Tx>(
  { facts }: Pick<Store<Tx>, 'facts'>,
  groups: readonly LetterGroup[],
): Promise<readonly (string | undefined)[]> {
  return (await facts.read(groups.map(nameOf))).map((fact) => fact?.value)
}

/** Stores a note for a group, which stays when its dead letters are gone. An empty note removes it. */
export async function annotate<Tx>(
  site: Site<Tx>,
  given: LetterGroup,
  note: string,
  whoAndWhy: WhoAndWhy,
): Promise<void> {
  const { by, why } = checkWhoAndWhy(whoAndWhy, 'annotate()')
  checkGroup(given)
  const { handler, reason, shape } = given
  const group = { handler, reason, shape }
  checkText(note, 'The note')
  if (note.length > longestNote) {
    throw new JustonceError('OPTION_INVALID', {
      message: `The note has ${note.length} characters, more than ${longestNote}.`,
    })
  }
  const { store } = site
  const { facts } = store
  const name = nameOf(group)
  await despiteRivals(async () => {
    const [known] = await facts.read([name])
    await store.transaction(async (tx) => {
      const change = { name, from: known?.revision, value: note, forMs: undefined }
      if (note === '') await facts.remove(tx, [name])
      // Another operator has written one meanwhile: the last one replaces it.
      else if ((await facts.change(tx, [change]))[0] === undefined) throw new RivalError()
      await keepAudit(site, tx, { action: 'annotate', by, why, subject: { ...group, note } })
    })
  })
}

/** A hash, because a shape may be longer than the name of a fact. */
function nameOf({ handler, reason, shape }: LetterGroup): string {
  return `note ${hash('sha256', JSON.stringify([handler, reason, shape]), 'base64url')}`
}
