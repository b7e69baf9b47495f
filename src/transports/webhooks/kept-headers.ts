import { checkOptions, JustonceError } from '../../errors/index.ts'

/** Which headers of a request become part of its message, beside the defaults. Names in any case. */
export interface HeaderOptions {
  /** Kept although they look like a secret. */
  readonly keep?: readonly string[]
  /** Kept without their value: it becomes `***`. */
  readonly mask?: readonly string[]
  /** Not kept at all. */
  readonly leaveOut?: readonly string[]
}

/** About the connection alone. */
const ofConnection: ReadonlySet<string> = new Set([
  ...['host', 'connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'expect', 'content-length'],
])

/** A parked message keeps its headers for people to look at: nothing may be in them that lets somebody in. */
const secret = /authorization|cookie|signature|hmac|token|secret|password|api-?key|credential/

/** Takes the headers of a request, in lower case, and gives those of its message. */
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
