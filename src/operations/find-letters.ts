import type { RecordKey, StoredParkedMessage } from '../contracts/index.ts'
import { isJustonceError, JustonceError } from '../errors/index.ts'
import { pagesOf } from './pages.ts'
import { nameOf, type Selected } from './selection.ts'
import type { Site } from './site.ts'

/** The dead letters of exactly these keys. Rejects if one of them does not exist, or is no longer dead or free. */
export async function findLetters<Tx>(
  site: Pick<Site<Tx>, 'store'>,
  keys: readonly RecordKey[],
): Promise<readonly StoredParkedMessage[]> {
  const rows = await rowsOf(site, keys)
  return keys.map((key) => {
    const row = rows.get(nameOf(key))
    if (row === undefined) {
      throw new JustonceError('LETTERS_NONE_FOUND', { message: `${described(key)} is not there.`, details: { ...key } })
    }
    if (row.redrive !== undefined) {
      const message = `${described(key)} is in the redrive ${row.redrive}, which is running.`
      throw new JustonceError('REDRIVE_RUNNING', { message, details: { ...key, redrive: row.redrive } })
    }
    if (row.state !== 'dead') {
      const message = `${described(key)} is waiting for an attempt, or has one now (reason ${row.reason}).`
      throw new JustonceError('LETTER_NOT_DEAD', { message, details: { ...key } })
    }
    return row
  })
}

/** Thrown out of a transaction that could not get all of an exact selection. */
export function changedMeanwhile(): JustonceError {
  return new JustonceError('LETTER_NOT_DEAD', { message: 'Someone else has changed one of the letters meanwhile.' })
}

/** Does the work. If it comes too late, explains exactly what has become of the dead letters. */
export async function orExplain<Tx, T>(
  site: Pick<Site<Tx>, 'store'>,
  selected: Selected,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (selected.kind === 'exact' && isJustonceError(error, 'LETTER_NOT_DEAD')) await findLetters(site, selected.keys)
    throw error
  }
}

const lookedAtOnce = 500
/** For many dead letters, only the metadata is kept: their messages may be larger than the memory. */
const nothing = { message: { envelope: new Uint8Array(), body: new Uint8Array() }, originalBody: undefined }

async function rowsOf<Tx>(
  { store }: Pick<Site<Tx>, 'store'>,
  keys: readonly RecordKey[],
): Promise<ReadonlyMap<string, StoredParkedMessage>> {
  const rows = new Map<string, StoredParkedMessage>()
  for (let start = 0; start < keys.length; start += lookedAtOnce) {
    const some = keys.slice(start, start + lookedAtOnce)
    for await (const page of pagesOf(store, { keys: some }))
      for (const row of page) rows.set(nameOf(row), keys.length === 1 ? row : { ...row, ...nothing })
  }
  return rows
}

function described({ handler, key }: RecordKey): string {
  return `The dead letter ${JSON.stringify(key)} of handler ${handler}`
}
