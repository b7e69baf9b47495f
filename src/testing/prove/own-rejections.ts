import { isJustonceError } from '../../errors/index.ts'
import { ProcessDied } from './life.ts'
import { sharedPatch } from './shared-patch.ts'
import { isMadeByProve } from './transient-error.ts'

type Listener = (reason: unknown, promise: Promise<unknown>) => void

/**
 * A query that a handler does not await may be made to fail, and then nobody catches its error. The proof reports it; it must
 * not also end the process or the test run.
 */
export const catchOwnRejections = sharedPatch(() => {
  const given = process.rawListeners('unhandledRejection') as Listener[]
  const listener: Listener = (reason, promise) => {
    if (isOwn(reason)) return
    for (const each of given) each(reason, promise)
    if (given.length === 0) throw reason
  }
  process.removeAllListeners('unhandledRejection')
  process.on('unhandledRejection', listener)
  return () => {
    process.removeListener('unhandledRejection', listener)
    for (const each of given) process.on('unhandledRejection', each)
  }
})

function isOwn(reason: unknown): boolean {
  return reason instanceof ProcessDied || isMadeByProve(reason) || isJustonceError(reason, 'TX_CLOSED')
}
