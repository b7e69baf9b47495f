import { isOutgoing } from '../encoding/outgoing-queue.ts'
import { unrouted } from '../encoding/unrouted.ts'
import { type ReceivedReport, rememberedHandlers } from '../facts/index.ts'
import { parkedByHandler } from './parked-by-handler.ts'
import type { Site } from './site.ts'

/**
 * The names under which there may be records: those of handlers that processes have or had, and of parked messages. Records are
 * found by handler and key, so a handler that nobody remembers is not found.
 */
export async function knownNames<Tx>(
  { store }: Pick<Site<Tx>, 'store'>,
  reports: readonly ReceivedReport[],
): Promise<readonly string[]> {
  const running = reports.flatMap(({ handlers }) => handlers.flatMap(({ name, formerly }) => [name, ...formerly]))
  const parked = (await parkedByHandler(store)).map(({ handler }) => handler)
  const names = new Set([...running, ...(await rememberedHandlers(store)), ...parked])
  return [...names].filter((name) => name !== unrouted && !isOutgoing(name)).toSorted()
}
