import type { JustonceEvent, Transport } from '../contracts/index.ts'
import type { Handler } from '../engine/handler.ts'
import { JustonceError } from '../errors/index.ts'
import type { RetentionOptions } from './retention-options.ts'

/** What is set up so that it may surprise somebody later, when nobody looks. */
export function retentionWarnings(
  retention: RetentionOptions | undefined,
  handlers: readonly Handler[],
  transports: readonly Transport[],
): JustonceEvent[] {
  if (retention === undefined) return []
  const warnings: JustonceEvent[] = []
  const warn = (code: 'RETENTION_TOO_SHORT' | 'RETENTION_WITHOUT_TIME', message: string): void => {
    warnings.push({ kind: 'warning', code, message: new JustonceError(code, { message }).message })
  }
  const keepMs = Math.min(retention.days, retention.timeless?.days ?? retention.days) * 86_400_000
  for (const { name, capabilities } of transports) {
    const { redeliversForMs } = capabilities
    if (redeliversForMs !== undefined && redeliversForMs > keepMs) {
      const days = Math.ceil(redeliversForMs / 86_400_000)
      warn(
        'RETENTION_TOO_SHORT',
        `${name} may redeliver for ${days} days, records are kept for ${keepMs / 86_400_000}.`,
      )
    }
  }
  if (retention.timeless === undefined && handlers.length > 0 && handlers.every(({ born }) => born.name === 'none')) {
    warn('RETENTION_WITHOUT_TIME', `retention.days is ${retention.days}, but nothing will be removed.`)
  }
  return warnings
}
