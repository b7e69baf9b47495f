export { knownHandlers } from './known-handlers.ts'
export { redriver } from './redriver.ts'
