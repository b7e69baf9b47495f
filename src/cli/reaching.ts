import type { Store } from '../contracts/index.ts'
import { isJustonceError } from '../errors/index.ts'
import { UsageError } from './command.ts'

/** A database's errors are meant for its driver; users need to know what they mean for them. */
export async function reaching<T>(store: Store, work: () => Promise<T>, hint = ''): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (isJustonceError(error) || error instanceof UsageError) throw error
    const said = saidBy(error)
    if (store.classify(error) === 'unavailable') throw new UsageError(`the database cannot be reached: ${said}`)
    throw new UsageError(`the database refused it: ${said}${hint === '' ? '' : `\n${hint}`}`)
  }
}

/** Some connection errors have no message, only other errors inside them. */
export function saidBy(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(saidBy).join('; ')
  return error instanceof Error ? error.message : String(error)
}
