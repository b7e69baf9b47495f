import { JustonceError } from './justonce-error.ts'

/** Refuses unknown options: a misspelt option would silently have no effect. */
export function checkOptions(given: object, known: readonly string[], where: string): void {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new JustonceError('OPTION_INVALID', { message: `${where} needs an object of options, not ${String(given)}.` })
  }
  for (const name of Object.keys(given)) {
    if (known.includes(name)) continue
    const message = `${where} has no option ${JSON.stringify(name)}. ${hintOf(name, known)}`
    throw new JustonceError('OPTION_UNKNOWN', { message })
  }
}

/** Refuses numbers that make no sense: NaN, infinite, or outside the allowed range. */
export function checkNumber(value: number, name: string, minimum: number, maximum = Number.POSITIVE_INFINITY): void {
  if (typeof value === 'number' && Number.isFinite(value) && value >= minimum && value <= maximum) return
  const allowed = maximum === Number.POSITIVE_INFINITY ? `of at least ${minimum}` : `from ${minimum} to ${maximum}`
  throw new JustonceError('OPTION_INVALID', {
    message: `${name} is ${String(value)}, but must be a number ${allowed}.`,
  })
}

export function checkChoice(value: unknown, name: string, known: readonly string[]): void {
  if (known.includes(value as string)) return
  throw new JustonceError('OPTION_INVALID', { message: `${name} is ${display(value)}. ${hintOf(value, known)}` })
}

/** What may have been meant, or everything that is known. */
export function hintOf(value: unknown, known: readonly string[]): string {
  const near = typeof value === 'string' ? nearest(value, known) : undefined
  return near === undefined ? `Known are: ${known.join(', ')}.` : `Did you mean ${near}?`
}

export function checkFlag(value: unknown, name: string): void {
  if (value === undefined || typeof value === 'boolean') return
  throw new JustonceError('OPTION_INVALID', { message: `${name} is ${display(value)}, not true or false.` })
}

export function checkFunction(value: unknown, name: string): void {
  if (typeof value === 'function') return
  throw new JustonceError('OPTION_INVALID', { message: `${name} is ${display(value)}, not a function.` })
}

function display(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value)
}

function nearest(name: string, known: readonly string[]): string | undefined {
  const [best] = known
    .map((candidate) => ({ candidate, distance: distance(name.toLowerCase(), candidate.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance)
  return best !== undefined && best.distance <= Math.max(2, name.length / 3) ? best.candidate : undefined
}

function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const substitution = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min((row[j] as number) + 1, (next[j - 1] as number) + 1, substitution))
    }
    row = next
  }
  return row[b.length] as number
}
