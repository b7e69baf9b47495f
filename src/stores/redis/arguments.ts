import { JustonceError } from '../../errors/index.ts'

/**
 * Copies the arguments as they are now and checks them. Client libraries refuse other values only when they send them, which
 * would be with the commit of a whole batch, or convert them into an unintended text.
 */
export function checkedArguments(args: readonly unknown[]): (string | Uint8Array)[] {
  return args.map((value, place) => {
    if (typeof value === 'string') return value
    if (typeof value === 'bigint') return String(value)
    if (value instanceof Uint8Array) return Buffer.from(value)
    if (typeof value === 'number' && isExact(value)) return String(value)
    const which = place === 0 ? 'the name' : `argument ${place}`
    throw new JustonceError('ARGUMENT_INVALID', {
      message: `tx.command(${nameIn(args)}) was given ${described(value)} as ${which}.`,
    })
  })
}

/** Beyond 2^53 a number may not be the intended one. */
function isExact(value: number): boolean {
  return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))
}

function nameIn([name]: readonly unknown[]): string {
  return typeof name === 'string' ? JSON.stringify(name) : '…'
}

function described(value: unknown): string {
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object' && value !== null)
    return `an object (${value.constructor?.name ?? 'without a prototype'})`
  return typeof value === 'function' ? 'a function' : String(value)
}
