import type { Events, Subscriber } from '../contracts/index.ts'
import type { Handler } from '../engine/handler.ts'
import { JustonceError } from '../errors/index.ts'
import type { RetentionOptions } from './retention-options.ts'

const dayMs = 86_400_000

/**
 * Warns about settings that may cause surprises later. How long a transport redelivers is checked when the transport
 * knows it: this does not wait for a broker.
 */
export function warnOfRetention(
  retention: RetentionOptions | undefined,
  handlers: readonly Handler[],
  from: readonly Subscriber[],
  events: Events,
): void {
  if (retention === undefined) return
  const warn = (code: 'RETENTION_TOO_SHORT' | 'RETENTION_WITHOUT_TIME', message: string): void => {
    events.emit({ kind: 'warning', code, message: new JustonceError(code, { message }).message })
  }
  const keepMs = Math.min(retention.days, retention.timeless?.days ?? retention.days) * dayMs
  const compare = (name: string, redeliversForMs: number | undefined): void => {
    if (redeliversForMs === undefined || redeliversForMs <= keepMs) return
    const forHowLong = Number.isFinite(redeliversForMs) ? `for ${Math.ceil(redeliversForMs / dayMs)} days` : 'for ever'
    warn('RETENTION_TOO_SHORT', `${name} may redeliver ${forHowLong}, records are kept for ${keepMs / dayMs} days.`)
  }
  const ask = async (subscriber: Subscriber): Promise<void> =>
    compare(subscriber.name, await subscriber.redeliversForMs?.())
  for (const subscriber of from) {
    // Otherwise redeliveries are recognised by their position, and need no record.
    if ((subscriber.positions?.dedup ?? 'id') === 'id') void ask(subscriber).catch(() => {})
  }
  if (retention.timeless === undefined && handlers.length > 0 && handlers.every(({ born }) => born.name === 'none')) {
    warn('RETENTION_WITHOUT_TIME', `retention.days is ${retention.days}, but nothing will be removed.`)
  }
}
