/**
 * Where reading of a partition began, if its positions are kept in a store. The broker keeps it as a note beside the group's
 * position: a store restored from a backup loses positions, and then only the broker knows that they existed.
 */
export interface Begun {
  /** `undefined` if unknown: the store had a position but the broker no note, for example after the group's position was reset. */
  readonly since: bigint | undefined
}

export function noteOf(topicId: string, { since }: Begun): string {
  return JSON.stringify({ justonce: { topic: topicId, ...(since !== undefined && { since: String(since) }) } })
}

/** `undefined` if reading never began, or began in another topic of the same name. */
export function begunIn(note: string | undefined, topicId: string | undefined): Begun | undefined {
  try {
    const { topic, since } = JSON.parse(note ?? '').justonce
    if (topic !== topicId) return undefined
    return { since: since === undefined ? undefined : BigInt(since) }
  } catch {
    return undefined
  }
}
