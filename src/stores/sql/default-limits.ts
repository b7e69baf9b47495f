/** Of transactions that say nothing else. */
export const defaultLimits = { lockTimeoutMs: 10_000, idleTimeoutMs: 60_000 } as const
