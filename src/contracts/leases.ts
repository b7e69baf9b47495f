/** Named leases with a fencing token, for what only one process should do at a time. Time is the database's. */
export interface Leases {
  /**
   * Takes the lease if nobody has it, or whoever has it has not renewed it in time. `fence` grows with every acquisition of
   * the name, for ever: what is written with an older one can be refused. It is at least the time in microseconds, so that
   * it goes on growing when what was known of the name is lost: a flushed server, a restored backup. Undefined: somebody has it.
   */
  acquire(name: string, leaseMs: number): Promise<{ readonly fence: number } | undefined>
  /** Has it for `leaseMs` from now; false: it was lost, and somebody else may have it. */
  renew(name: string, fence: number, leaseMs: number): Promise<boolean>
  /** Frees it; false: it was lost before. Never frees another's. */
  release(name: string, fence: number): Promise<boolean>
}
