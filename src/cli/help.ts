import type { Described } from './command.ts'
import type { OptionSpec } from './options.ts'

export const exitCodes = 'The exit code is 0 if it was done, 1 after a negative answer, 2 after an error.'

type Options = Readonly<Record<string, OptionSpec>>

/** The help of a command that does one thing, or of one action of a command: `name` is then both words. */
export function helpOf(
  name: string,
  { takes = [], about, summary, options = {} }: Omit<Described, 'name'>,
  shared: Options = {},
): string {
  const args = takes.map((each) => (each.endsWith('?') ? `[${each.slice(0, -1)}]` : `<${each}>`))
  const all = { ...options, ...shared }
  const flags = Object.keys(all).length > 0 ? ['[options]'] : []
  const usage = `Usage: justonce ${[name, ...args, ...flags].join(' ')}`
  return [usage, flowing(about ?? sentence(summary)), optionLines(all), exitCodes]
    .filter((text) => text !== '')
    .join('\n\n')
    .concat('\n')
}

/** The help of a command that can do several things. */
export function helpOfAll(
  name: string,
  { about, summary }: Omit<Described, 'name'>,
  actions: readonly Described[],
): string {
  const width = Math.max(...actions.map((action) => action.name.length))
  const lines = actions.map((action) => `  ${action.name.padEnd(width)}  ${action.summary}`)
  const usage = `Usage: justonce ${name} <${actions.map((action) => action.name).join(' | ')}> [options]`
  const more = `justonce ${name} <action> --help explains one. ${exitCodes}`
  return `${usage}\n\n${flowing(about ?? sentence(summary))}\n\n${lines.join('\n')}\n\n${more}\n`
}

/** Paragraphs without the line breaks of our sources: how wide a terminal is shows when it is read. */
function flowing(text: string): string {
  return text.replaceAll(/(?<!\n)\n(?!\n)/g, ' ')
}

/** One line for each option, with its text beside it. */
export function optionLines(options: Options): string {
  const names = Object.entries(options).map(([name, spec]) => [`--${name}${placeholderOf(spec)}`, spec.text] as const)
  const width = Math.min(26, Math.max(0, ...names.map(([name]) => name.length)))
  return names.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`).join('\n')
}

export function placeholderOf({ kind, value }: OptionSpec): string {
  return kind === 'flag' ? '' : ` <${value ?? (kind === 'number' ? 'n' : kind === 'date' ? 'time' : 'text')}>`
}

export function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}
