import { readable } from '../encoding/readable.ts'

/** More nobody reads. A few thousand levels further down what writes JSON gives up, and one such body would hide the others of its list. */
const deepest = 500

/** A body as operators see it: the parsed JSON; text if it is no JSON or nested too deeply, the bytes if it is no text either. */
export function readableBody(body: Uint8Array): unknown {
  const value = readable(body)
  const isPlain = body.length <= 2 * deepest || value instanceof Uint8Array
  return isPlain || !isDeep(value) ? value : new TextDecoder().decode(body)
}

/** Level by level: a function that calls itself would end where JSON does. */
function isDeep(value: unknown): boolean {
  let level = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > deepest) return true
    level = level.flatMap((each) => (typeof each === 'object' && each !== null ? Object.values(each) : []))
  }
  return false
}
