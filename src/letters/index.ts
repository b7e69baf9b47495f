export { auditedActions, deadLetters } from './dead-letters.ts'
export { forgetRecord } from './forget-record.ts'
export { Redriver } from './redriver.ts'
export type * from './types.ts'
