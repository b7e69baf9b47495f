import type { Facts } from '../contracts/index.ts'

/**
 * Stores for each handler the scheme by which `born` is derived from its keys, and resolves to the scheme that was stored
 * first: a changed scheme would not find its own records.
 */
export async function pinScheme(
  { facts }: { readonly facts: Pick<Facts<never>, 'read' | 'change'> },
  handler: string,
  scheme: string,
): Promise<string> {
  const name = `scheme ${handler}`
  for (;;) {
    // Usually it is already pinned, and then starting needs no lock.
    const [pinned] = await facts.read([name])
    if (pinned !== undefined) return pinned.value
    const [revision] = await facts.change(undefined, [{ name, from: undefined, value: scheme, forMs: undefined }])
    if (revision !== undefined) return scheme
  }
}
