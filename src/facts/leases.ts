import type { Facts } from '../contracts/index.ts'

/** Named leases with a fencing token, for work that only one process should do at a time. Time is the database's. */
export interface Leases {
  /**
   * Takes the lease if no process has it, or its holder has not renewed it in time. `fence` grows with every acquisition of
   * the name, forever: writes with an older fence can be refused. `undefined` if another holder has the lease.
   */
  acquire(name: string, leaseMs: number): Promise<{ readonly fence: number } | undefined>
  /** Extends the lease to `leaseMs` from now; false if it was lost, and another process may have it. */
  renew(name: string, fence: number, leaseMs: number): Promise<boolean>
  /** Frees the lease; false if it was lost before. Never frees another holder's lease. */
  release(name: string, fence: number): Promise<boolean>
}

/**
 * The fence is the revision of a fact whose value never changes. `lease` is the kind of those that users name; the apps' own leases
 * are of the kind `duty`, so that no name can mean both.
 */
export function leasesOf(
  { facts }: { readonly facts: Pick<Facts<never>, 'change'> },
  kind: 'lease' | 'duty' = 'lease',
): Leases {
  const change = async (lease: string, from: number | undefined, forMs: number): Promise<number | undefined> =>
    (await facts.change(undefined, [{ name: `${kind} ${lease}`, from, value: '', forMs }]))[0]
  return {
    async acquire(name, leaseMs) {
      const fence = await change(name, undefined, leaseMs)
      return fence === undefined ? undefined : { fence }
    },
    renew: async (name, fence, leaseMs) => (await change(name, fence, leaseMs)) === fence,
    release: async (name, fence) => (await change(name, fence, 0)) === fence,
  }
}
