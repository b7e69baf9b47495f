import { createRequire } from 'node:module'
import { join } from 'node:path'

/** A module of the user's project; `undefined` if it is not installed. */
export function projectModule(name: string): unknown {
  try {
    return createRequire(join(process.cwd(), 'package.json'))(name)
  } catch (error) {
    if ((error as { code?: unknown }).code === 'MODULE_NOT_FOUND') return undefined
    throw error
  }
}
