import { JustonceError } from '../../errors/index.ts'

/** An exact number: a whole number, a bigint, or a decimal as text. */
export type Amount = number | bigint | string

/**
 * Refuses what would not stay exact, and texts such as `NaN` and `Infinity`: Postgres adds them to a balance, calls the sum larger
 * than any limit, and no later entry changes it again.
 */
export function checkAmount(amount: unknown, what: string): void {
  if (typeof amount === 'bigint' || Number.isSafeInteger(amount)) return
  if (typeof amount === 'string' && /^[-+]?(\d+(\.\d*)?|\.\d+)$/.test(amount)) return
  throw new JustonceError('OPTION_INVALID', {
    message: `${what} is ${typeof amount === 'string' ? JSON.stringify(amount) : amount}. Exact are whole numbers up to 2^53, bigint, and decimals as text ('12.50').`,
  })
}

export function checkAboveZero(amount: Amount, what: string): void {
  checkAmount(amount, what)
  if (typeof amount === 'string' ? /^\+?[\d.]*[1-9]/.test(amount) : amount > 0) return
  throw new JustonceError('OPTION_INVALID', { message: `${what} is ${amount}, but must be above 0.` })
}

/** Of an amount above 0. */
export function negated(amount: Amount): Amount {
  return typeof amount === 'string' ? `-${amount.replace('+', '')}` : -amount
}
