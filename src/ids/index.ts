export { bornOfId, type TimedIds } from './born.ts'
export { derivedId } from './derived-id.ts'
export { timeOfUuidV7, uuidv7 } from './uuid-v7.ts'
