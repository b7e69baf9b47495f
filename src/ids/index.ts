export { derivedId } from './derived-id.ts'
export { uuidv7 } from './uuid-v7.ts'
