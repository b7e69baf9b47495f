import type { Facts } from '../contracts/index.ts'

/**
 * Keeps for each handler by which scheme `born` is derived from its keys, and resolves to the scheme that was kept first: one
 * that changed would not find the records it has made.
 */
export async function pinScheme(
  { facts }: { readonly facts: Pick<Facts<never>, 'read' | 'change'> },
  handler: string,
  scheme: string,
): Promise<string> {
  const name = `scheme ${handler}`
  for (;;) {
    // Mostly it is pinned already, and then nobody has to wait for a lock to start.
    const [pinned] = await facts.read([name])
    if (pinned !== undefined) return pinned.value
    const [revision] = await facts.change(undefined, [{ name, from: undefined, value: scheme, forMs: undefined }])
    if (revision !== undefined) return scheme
  }
}
