import { JustonceError } from '../../errors/index.ts'

const plain = /^[A-Za-z_][A-Za-z0-9_]*$/

/** Leaves room for our suffixes. MySQL refuses names over 64 characters, and Postgres silently truncates them to 63 bytes. */
export const longestPrefix = 40

/** Checks a name that is inserted into our statements unquoted, so it must not contain anything that could break out of them. */
export function checkPlainName(option: string, name: unknown, longest: number): void {
  if (typeof name === 'string' && plain.test(name) && name.length <= longest) return
  throw new JustonceError('OPTION_INVALID', {
    message: `${option} is ${JSON.stringify(name)}, but must be letters, digits and underscores, at most ${longest}.`,
  })
}
