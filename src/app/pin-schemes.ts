import type { Facts } from '../contracts/index.ts'
import type { Handler } from '../engine/handler.ts'
import { JustonceError } from '../errors/index.ts'
import { pinScheme } from '../facts/index.ts'

/**
 * Makes sure that records are found again: each name of a handler keeps the scheme it began with. A handler that was
 * renamed may have another one than under its old name, if that had none: then the old records are looked for without a
 * time. Resolves to the names whose records have none.
 */
export async function pinSchemes(
  store: { readonly facts: Facts<never> },
  handlers: readonly Handler[],
): Promise<string[]> {
  const timeless: string[] = []
  for (const { name, formerly, born, delivery } of handlers) {
    if (delivery === 'at-least-once') continue
    for (const each of [name, ...formerly]) {
      const pinned = await pinScheme(store, each, born.name)
      if (pinned === 'none') timeless.push(each)
      if (pinned !== born.name && (pinned !== 'none' || each === name)) {
        throw new JustonceError('BORN_CHANGED', {
          message: `The records of handler ${each} were made with ids: ${pinned}, and now it has ids: ${born.name}.`,
        })
      }
    }
  }
  return timeless
}
