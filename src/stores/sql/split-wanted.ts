import type { WantedMessages } from '../../contracts/index.ts'

/** Splits into handlers of which all messages are wanted, and pairs of a handler and a type. */
export function splitWanted(wanted: readonly WantedMessages[]) {
  return {
    whole: wanted.flatMap(({ handler, type }) => (type === undefined ? handler : [])),
    pairs: wanted.flatMap(({ handler, type }) => (type === undefined ? [] : [[handler, type] as const])),
  }
}
