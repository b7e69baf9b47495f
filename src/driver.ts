/** What stores and transports are made of, for those who write one: `justonce/driver`. */
export { systemClock } from './clock/index.ts'
export type * from './contracts/index.ts'
export { type ErrorCode, isJustonceError, JustonceError } from './errors/index.ts'
/** What stores have in common that keep their rows as objects: what a change makes of a fact, which messages are due. */
export { changedFact, type FactRow, kindOfFact, latestFactFirst, stillStands } from './facts/index.ts'
export { dueRows, rowsBehind, withinBytes } from './stores/shared/due-rows.ts'
export { FairMutex } from './stores/shared/fair-mutex.ts'
export { fitsFilter } from './stores/shared/fits-filter.ts'
export { NestedTurns } from './stores/shared/nested-turns.ts'
export { tallyRows } from './stores/shared/tally-rows.ts'
export { unlessAborted } from './stores/shared/unless-aborted.ts'
