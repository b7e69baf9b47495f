import type { Facts } from '../contracts/index.ts'
import type { Handler } from '../engine/handler.ts'
import { JustonceError } from '../errors/index.ts'
import { pinScheme } from '../facts/index.ts'

/**
 * Makes sure that records are found again: each handler name keeps the scheme it began with. A renamed handler may have
 * a scheme although its old name had none: the old records are then looked up without a time. Resolves to the names
 * whose records have no time.
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
