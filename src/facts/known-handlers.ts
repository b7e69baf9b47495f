import type { Facts } from '../contracts/index.ts'
import { pinnedHandlers } from './pinned-scheme.ts'

const kind = 'handler'
const mostHandlers = 1_000

/** Records are found by handler and key: operators find those of a handler whose processes have ended only by a name that is kept. */
export async function rememberHandlers(
  { facts }: { readonly facts: Pick<Facts<never>, 'read' | 'change'> },
  handlers: readonly string[],
): Promise<void> {
  const names = [...new Set(handlers)].map((handler) => `${kind} ${handler}`)
  if (names.length === 0) return
  // Usually they are known, and then starting needs no lock.
  const known = await facts.read(names)
  const unknown = names.filter((_, place) => known[place] === undefined)
  if (unknown.length === 0) return
  await facts.change(
    undefined,
    unknown.map((name) => ({ name, from: undefined, value: '', forMs: undefined })),
  )
}

/** The handlers, current and former, that have ever been started with this store. */
export async function rememberedHandlers(store: {
  readonly facts: Pick<Facts<never>, 'list'>
}): Promise<readonly string[]> {
  const remembered = await store.facts.list(kind, mostHandlers)
  return [...remembered.map(({ name }) => name.slice(kind.length + 1)), ...(await pinnedHandlers(store))]
}
