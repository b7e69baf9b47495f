import { JustonceError } from '../../errors/index.ts'

const plain = /^[A-Za-z_][A-Za-z0-9_]*$/

/** Room is left for what we append: MySQL refuses names over 64 characters, and Postgres cuts them after 63 bytes, silently. */
export const longestPrefix = 40

/** For a name that stands in our statements, and so may hold nothing that could end it there. */
export function checkPlainName(option: string, name: unknown, longest: number): void {
  if (typeof name === 'string' && plain.test(name) && name.length <= longest) return
  throw new JustonceError('OPTION_INVALID', {
    message: `${option} is ${JSON.stringify(name)}, but must be letters, digits and underscores, at most ${longest}.`,
  })
}
