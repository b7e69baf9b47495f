import type { Clock } from '../contracts/index.ts'
import { JustonceError } from '../errors/index.ts'

/**
 * Where messages come from. `connected` resolves when the broker was reached for the first time, and rejects if it refuses
 * us.
 */
export interface Connection {
  readonly name: string
  readonly connected: Promise<void>
}

export interface AwaitingOptions {
  readonly clock: Clock
  /** No limit if not given. */
  readonly withinMs: number | undefined
  /** Aborted when the result is no longer wanted. */
  readonly signal: AbortSignal
}

/** Resolves when all brokers were reached. The transports keep trying in any case. */
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
    message: `start() has waited for ${[...missing].join(', ')} in vain. The app is started, and keeps trying.`,
  })
}
