/** Text is found as it is; a regular expression sees the bytes as latin1 characters. */
export type Pattern = string | RegExp

/** A longer match is not seen. A transaction of some messages must fit, from a statement in it to its commit. */
const longestSplitMatch = 65_536

export function toRegExp(pattern: Pattern): RegExp {
  if (typeof pattern !== 'string') return new RegExp(pattern.source, `${pattern.flags.replace(/[gy]/g, '')}g`)
  const asBytes = Buffer.from(pattern).toString('latin1')
  return new RegExp(asBytes.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'), 'g')
}

/** Finds patterns in a stream, also those that the network has split between two chunks. */
export class StreamSearch {
  #seen = ''

  /** Takes the next chunk; the result tells whether a match ends inside that chunk. */
  next(chunk: Buffer): (pattern: RegExp) => boolean {
    const before = this.#seen.length
    const text = this.#seen + chunk.toString('latin1')
    this.#seen = text.slice(-longestSplitMatch)
    return (pattern) => [...text.matchAll(pattern)].some((match) => match.index + match[0].length > before)
  }
}
