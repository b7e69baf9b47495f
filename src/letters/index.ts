export { knownHandlers } from './known-handlers.ts'
export { operableEngine } from './operable-engine.ts'
export { redriver } from './redriver.ts'
