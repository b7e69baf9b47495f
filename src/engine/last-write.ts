import type { LastWrites } from '../contracts/index.ts'

export type Blame = (error: unknown) => unknown

/**
 * Makes one of the last writes of a transaction: now, or together with the commit if the store can do that. Nothing but such
 * writes may follow. Either way, a failure becomes the error that `blame` makes of it.
 */
export async function lastWrite(
  lastWrites: LastWrites | undefined,
  write: () => Promise<void>,
  blame: Blame = (error) => error,
): Promise<void> {
  lastWrites?.(blame)
  try {
    await write()
  } catch (error) {
    throw blame(error)
  }
}
