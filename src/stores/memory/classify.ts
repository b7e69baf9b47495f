import type { StoreTrouble } from '../../contracts/index.ts'
import { isJustonceError } from '../../errors/index.ts'

export function classify(error: unknown): StoreTrouble {
  if (isJustonceError(error, 'STORE_BUSY')) return 'conflict'
  return isJustonceError(error, 'STORE_CLOSED') ? 'unavailable' : 'none'
}
