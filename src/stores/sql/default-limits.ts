/** The limits of transactions that set none. */
export const defaultLimits = { lockTimeoutMs: 10_000, idleTimeoutMs: 60_000 } as const
