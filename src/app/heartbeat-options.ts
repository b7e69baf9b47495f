import { checkNumber, checkOptions, JustonceError } from '../errors/index.ts'

/** How a process tells operators that it is alive, what it is running and what it has done. */
export interface HeartbeatOptions {
  /** How often it does. What operators pause is obeyed within that time. Default: 5 s. */
  readonly everyMs?: number
  /** How long the counts of each minute are kept. Default: 24 h. */
  readonly keepMs?: number
}

export function checkHeartbeat(given: boolean | HeartbeatOptions | undefined): void {
  if (given === undefined || typeof given === 'boolean') return
  checkOptions(given, ['everyMs', 'keepMs'], 'heartbeat')
  checkNumber(given.everyMs ?? 100, 'heartbeat.everyMs', 100, 600_000)
  checkNumber(given.keepMs ?? 60_000, 'heartbeat.keepMs', 60_000, 30 * 86_400_000)
}

export function checkAppName(name: string | undefined): void {
  if (name === undefined || (typeof name === 'string' && name !== '' && name.length <= 100)) return
  throw new JustonceError('OPTION_INVALID', {
    message: `name is ${JSON.stringify(name)}, but must be text of 1 to 100 characters.`,
  })
}

/** `undefined` if it is turned off. */
export function decideHeartbeat(
  given: boolean | HeartbeatOptions | undefined,
): { readonly everyMs: number; readonly keptMs: number } | undefined {
  if (given === false) return undefined
  const { everyMs = 5_000, keepMs = 86_400_000 } = typeof given === 'object' ? given : {}
  return { everyMs, keptMs: keepMs }
}
