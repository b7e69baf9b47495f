export { countParked } from './count-parked.ts'
export { operations } from './operations.ts'
export type { HandlerKnowledge, LetterRun, OperatorChange } from './site.ts'
export type * from './types.ts'
