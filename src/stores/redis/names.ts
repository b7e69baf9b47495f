import type { RecordKey } from '../../contracts/index.ts'

/** Unique for each pair. */
export function pairName(handler: string, key: string): string {
  return JSON.stringify([handler, key])
}

export function rowName({ handler, key }: RecordKey): string {
  return pairName(handler, key)
}

export function keyPrefix(hashTag: string): string {
  return `justonce:{${hashTag}}:`
}

/** The part of a key that decides its slot in a cluster. */
export function hashTagOf(key: string): string {
  const from = key.indexOf('{')
  const to = key.indexOf('}', from + 1)
  return from === -1 || to <= from + 1 ? key : key.slice(from + 1, to)
}
