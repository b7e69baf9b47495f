import { JustonceError } from '../../errors/index.ts'
import type { Name } from './fragment.ts'

/** How often something is tried again that a rival was in the way of. */
export const mostRounds = 10

/** The row was there and nothing was in the way, and still it is as it was. Any other answer would contradict it. */
export function leftUndone(table: Name): JustonceError {
  return new JustonceError('OPTION_INVALID', {
    message: `A row of ${table.parts.join('.')} was to be changed or deleted, and is as it was: a trigger or a policy (row security) prevents it silently, or rivals change it all the time.`,
  })
}
