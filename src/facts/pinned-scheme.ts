import type { Facts } from '../contracts/index.ts'

const kind = 'scheme'
const mostHandlers = 1_000

/**
 * Stores for each handler the scheme by which `born` is derived from its keys, and resolves to the scheme that was stored
 * first: a changed scheme would not find its own records.
 */
export async function pinScheme(
  { facts }: { readonly facts: Pick<Facts<never>, 'read' | 'change'> },
  handler: string,
  scheme: string,
): Promise<string> {
  const name = `${kind} ${handler}`
  for (;;) {
    // Usually it is already pinned, and then starting needs no lock.
    const [pinned] = await facts.read([name])
    if (pinned !== undefined) return pinned.value
    const [revision] = await facts.change(undefined, [{ name, from: undefined, value: scheme, forMs: undefined }])
    if (revision !== undefined) return scheme
  }
}

/** The handlers, current and former, that have ever been started with this store, if the store removes records. */
export async function pinnedHandlers({
  facts,
}: {
  readonly facts: Pick<Facts<never>, 'list'>
}): Promise<readonly string[]> {
  return (await facts.list(kind, mostHandlers)).map(({ name }) => name.slice(kind.length + 1))
}
