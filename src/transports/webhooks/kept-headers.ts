import { checkOptions, JustonceError } from '../../errors/index.ts'

/** Which headers of a request become part of its message, in addition to the defaults. Names are case-insensitive. */
export interface HeaderOptions {
  /** Kept although they look like secrets. */
  readonly keep?: readonly string[]
  /** Kept without their value: it becomes `***`. */
  readonly mask?: readonly string[]
  /** Not kept. */
  readonly leaveOut?: readonly string[]
}

/** Headers that concern only the connection. */
const ofConnection: ReadonlySet<string> = new Set([
  ...['host', 'connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'expect', 'content-length'],
])

/** People can see the headers of a parked message, so they must not contain credentials. */
const secret = /authorization|cookie|signature|hmac|token|secret|password|api-?key|credential/

/** Takes the headers of a request, with lower-case names, and returns those of its message. */
export type KeepHeaders = (headers: Readonly<Record<string, string>>) => Readonly<Record<string, string>>

export function decideHeaders(options: HeaderOptions = {}): KeepHeaders {
  if (typeof options !== 'object' || options === null)
    throw new JustonceError('OPTION_INVALID', { message: `headers is ${JSON.stringify(options)}, not an object.` })
  checkOptions(options, ['keep', 'mask', 'leaveOut'], 'headers')
  const keep = namesIn(options.keep, 'keep')
  const mask = namesIn(options.mask, 'mask')
  const leaveOut = namesIn(options.leaveOut, 'leaveOut')
  const isLeftOut = (name: string): boolean =>
    leaveOut.has(name) || ofConnection.has(name) || (secret.test(name) && !keep.has(name) && !mask.has(name))
  return (headers) => {
    const kept = Object.entries(headers).filter(([name]) => !isLeftOut(name))
    return Object.fromEntries(kept.map(([name, value]) => [name, mask.has(name) ? '***' : value]))
  }
}

function namesIn(names: readonly string[] | undefined, option: string): ReadonlySet<string> {
  if (names === undefined) return new Set()
  if (!Array.isArray(names) || names.some((name) => typeof name !== 'string'))
    throw new JustonceError('OPTION_INVALID', {
      message: `headers.${option} is ${JSON.stringify(names)}, but must be a list of names.`,
    })
  return new Set(names.map((name) => name.toLowerCase()))
}
