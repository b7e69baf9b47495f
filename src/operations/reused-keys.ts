import type { StoredParkedMessage } from '../contracts/index.ts'
import type { Site } from './site.ts'

/**
 * The letters whose keys still belong to other messages: while such a message has its record, the dead letter would only be
 * refused again. The key of such a dead letter is the reused key, a `#` and its content.
 */
export async function withReusedKeys<Tx>(
  { store, handlers }: Pick<Site<Tx>, 'store' | 'handlers'>,
  letters: readonly StoredParkedMessage[],
): Promise<ReadonlySet<StoredParkedMessage>> {
  const asked = letters
    .filter(({ reason, key }) => reason === 'KEY_REUSED' && key.includes('#'))
    .flatMap((letter) => {
      const key = letter.key.slice(0, letter.key.lastIndexOf('#'))
      return handlers.namesOf(letter.handler).map((handler) => ({ letter, handler, key }))
    })
  if (asked.length === 0) return new Set()
  const records = await store.inbox.find(asked)
  return new Set(asked.filter((_, index) => records[index] !== undefined).map(({ letter }) => letter))
}
