/**
 * Where reading of a partition began that keeps its positions in a store. The broker has it as a note beside the position of the
 * group: a store that is restored from a backup forgets positions, and only the broker can say that there were some.
 */
export interface Begun {
  /** Undefined: nobody knows, because somebody has set the position of the group since. */
  readonly since: bigint | undefined
}

export function noteOf(topicId: string, { since }: Begun): string {
  return JSON.stringify({ justonce: { topic: topicId, ...(since !== undefined && { since: String(since) }) } })
}

/** Undefined: it was never begun, or in another topic of that name. */
export function begunIn(note: string | undefined, topicId: string | undefined): Begun | undefined {
  try {
    const { topic, since } = JSON.parse(note ?? '').justonce
    if (topic !== topicId) return undefined
    return { since: since === undefined ? undefined : BigInt(since) }
  } catch {
    return undefined
  }
}
