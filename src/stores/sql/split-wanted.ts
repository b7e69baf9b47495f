import type { WantedMessages } from '../../contracts/index.ts'

/** Handlers all of whose messages are wanted, and pairs of a handler and a type. */
export function splitWanted(wanted: readonly WantedMessages[]) {
  return {
    whole: wanted.flatMap(({ handler, type }) => (type === undefined ? handler : [])),
    pairs: wanted.flatMap(({ handler, type }) => (type === undefined ? [] : [[handler, type] as const])),
  }
}
