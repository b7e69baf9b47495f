import { cleanText } from '../encoding/clean-text.ts'
import { checkNumber, checkOptions, JustonceError } from '../errors/index.ts'
import type { WhoAndWhy } from './types.ts'

/** The most that one list returns. */
export const mostListed = 1_000
const longestName = 200
const longestReason = 2_000

/** Who does it and why, checked. */
export interface CheckedWhoAndWhy {
  readonly by: string
  readonly why: string
}

/** Every action needs a name: who did it is all that is left of a discarded dead letter. */
export function checkWhoAndWhy(given: WhoAndWhy, where: string, others: readonly string[] = []): CheckedWhoAndWhy {
  checkOptions(given, ['by', 'why', ...others], where)
  const { by, why = '' } = given
  if (typeof by !== 'string' || by.trim() === '' || by.length > longestName) {
    throw new JustonceError('OPTION_INVALID', {
      message: `by of ${where} is ${shown(by)}, but must say who does it, in at most ${longestName} characters.`,
    })
  }
  if (typeof why !== 'string' || why.length > longestReason) {
    throw new JustonceError('OPTION_INVALID', {
      message: `why of ${where} is ${shown(why)}, but must be text of at most ${longestReason} characters.`,
    })
  }
  return { by: cleanText(by, longestName), why: cleanText(why, longestReason) }
}

/** A whole number that a column can hold. */
export function checkWhole(value: number, name: string, minimum: number, maximum = 2_147_483_647): void {
  checkNumber(value, name, minimum, maximum)
  if (Number.isInteger(value)) return
  throw new JustonceError('OPTION_INVALID', { message: `${name} is ${value}, but must be a whole number.` })
}

function shown(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(cleanText(value, 60)) : String(value)
}
