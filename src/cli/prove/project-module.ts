import { createRequire } from 'node:module'
import { join } from 'node:path'

/** A module as the user's project has it; undefined: it has none. */
export function projectModule(name: string): unknown {
  try {
    return createRequire(join(process.cwd(), 'package.json'))(name)
  } catch (error) {
    if ((error as { code?: unknown }).code === 'MODULE_NOT_FOUND') return undefined
    throw error
  }
}
