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

/** If no positions are kept in a store, the note says only which topic the position is of. */
export function noteWithoutStore(topicId: string): string {
  return JSON.stringify({ justonce: { topic: topicId, isInStore: false } })
}

/**
 * The topic that the position beside the note is of. A broker takes a position for whichever topic has the name now, also from
 * those who still have records of a deleted one in hand.
 */
export function topicOfNote(note: string | undefined): string | undefined {
  try {
    const { topic } = JSON.parse(note ?? '').justonce
    return typeof topic === 'string' ? topic : undefined
  } catch {
    return undefined
  }
}

/** `undefined` if reading never began, began in another topic of the same name, or was not kept in a store. */
export function begunIn(note: string | undefined, topicId: string | undefined): Begun | undefined {
  try {
    const { topic, since, isInStore } = JSON.parse(note ?? '').justonce
    if (topic !== topicId || isInStore === false) return undefined
    return { since: since === undefined ? undefined : BigInt(since) }
  } catch {
    return undefined
  }
}
