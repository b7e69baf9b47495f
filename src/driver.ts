/** What stores and transports are made of, for those who write one: `justonce/driver`. */
export { systemClock } from './clock/index.ts'
export type * from './contracts/index.ts'
export { type ErrorCode, isJustonceError, JustonceError } from './errors/index.ts'
