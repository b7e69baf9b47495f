import type { Clock } from '../contracts/index.ts'
import { JustonceError } from '../errors/index.ts'

/** Where messages come from. `connected` resolves when it was reached for the first time, and rejects when it refuses us. */
export interface Connection {
  readonly name: string
  readonly connected: Promise<void>
}

export interface AwaitingOptions {
  readonly clock: Clock
  /** For ever if not given. */
  readonly withinMs: number | undefined
  /** Aborted when nobody wants it any more. */
  readonly signal: AbortSignal
}

/** Resolves when all of them were reached. Trying goes on, whatever comes of this. */
export async function whenBrokersAreThere(
  connections: readonly Connection[],
  { clock, withinMs, signal }: AwaitingOptions,
): Promise<void> {
  const missing = new Set(connections.map(({ name }) => name))
  const { promise: isOver, resolve, reject } = Promise.withResolvers<void>()
  const timer = withinMs === undefined ? undefined : clock.timer(withinMs, () => reject(unreached(missing)))
  const giveUp = (): void => resolve()
  signal.addEventListener('abort', giveUp)
  const all = connections.map(async ({ name, connected }) => {
    await connected
    missing.delete(name)
  })
  try {
    await Promise.race([isOver, Promise.all(all)])
  } finally {
    timer?.cancel()
    signal.removeEventListener('abort', giveUp)
  }
}

function unreached(missing: ReadonlySet<string>): JustonceError {
  return new JustonceError('BROKER_UNREACHABLE', {
    message: `start() has waited for ${[...missing].join(', ')} in vain. The app is started, and goes on trying.`,
  })
}
