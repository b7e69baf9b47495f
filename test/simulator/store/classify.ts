import type { StoreTrouble } from '../../../src/contracts/index.ts'
import { isJustonceError } from '../../../src/errors/index.ts'
import { SimError } from '../database/sim-error.ts'

export function classify(error: unknown): StoreTrouble {
  if (isJustonceError(error, 'COMMIT_UNKNOWN') || isJustonceError(error, 'STORE_CLOSED')) return 'unavailable'
  if (!(error instanceof SimError)) return 'none'
  if (error.code === 'deadlock' || error.code === 'lock-timeout' || error.code === 'refused') return 'conflict'
  return error.code === 'connection-lost' || error.code === 'server-down' ? 'unavailable' : 'none'
}
