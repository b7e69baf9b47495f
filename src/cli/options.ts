import { parseArgs } from 'node:util'
import { UsageError } from './command.ts'

export interface OptionSpec {
  readonly kind: 'text' | 'flag' | 'number' | 'date'
  /** What its value is called in the help. */
  readonly value?: string | undefined
  readonly text: string
}

/** What was given on the command line, by the kind of each option. */
export class GivenOptions {
  readonly args: readonly string[]
  readonly #values: Readonly<Record<string, string | boolean | undefined>>

  constructor(args: readonly string[], values: Readonly<Record<string, string | boolean | undefined>>) {
    this.args = args
    this.#values = values
  }

  text(name: string): string | undefined {
    const value = this.#values[name]
    return typeof value === 'string' ? value : undefined
  }

  flag(name: string): boolean {
    return this.#values[name] === true
  }

  number(name: string): number | undefined {
    const text = this.text(name)
    if (text === undefined) return undefined
    const value = Number(text)
    if (text.trim() !== '' && Number.isFinite(value)) return value
    throw new UsageError(`--${name} takes a number, not ${text}.`)
  }

  /** A date, or an age such as 15m, 2h or 3d. */
  date(name: string): Date | undefined {
    const text = this.text(name)
    if (text === undefined) return undefined
    const age = /^(\d+)([smhd])$/.exec(text)
    const units: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
    const date =
      age === null ? new Date(text) : new Date(Date.now() - Number(age[1]) * (units[age[2] as string] as number))
    if (!Number.isNaN(date.getTime())) return date
    throw new UsageError(
      `--${name} takes a time such as 2026-01-31T12:00Z or an age such as 15m, 2h or 3d, not ${text}.`,
    )
  }
}

export function parseOptions(
  args: readonly string[],
  specs: Readonly<Record<string, OptionSpec>>,
  takes: readonly string[] = [],
): GivenOptions {
  const options = Object.fromEntries(
    Object.entries(specs).map(([name, { kind }]) => [name, { type: kind === 'flag' ? 'boolean' : 'string' } as const]),
  )
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: takes.length > 0 })
  const missing = takes.find((name, place) => !name.endsWith('?') && positionals[place] === undefined)
  if (missing !== undefined) throw new UsageError(`which ${missing}?`)
  if (positionals.length > takes.length) throw new UsageError(`what is ${positionals[takes.length]}?`)
  return new GivenOptions(positionals, values as Record<string, string | boolean | undefined>)
}
