/** How long a server may be silent. Longer than slow disks and busy servers take for a statement of the store. */
export const defaultAnswerTimeoutMs = 60_000

/** The limits of transactions that set none. */
export const defaultLimits = { lockTimeoutMs: 10_000, idleTimeoutMs: 60_000 } as const
