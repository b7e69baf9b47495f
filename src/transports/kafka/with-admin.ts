import type { KafkaAdmin } from './client-shapes.ts'
import { type ClientSettings, clientOptions } from './settings.ts'

/**
 * Opens an admin client for one task. The signal closes it: requests to a frozen broker would otherwise keep the process
 * alive until they time out. `undefined` if the client library has none.
 */
export async function withAdmin<T>(
  settings: ClientSettings,
  signal: AbortSignal,
  task: (admin: KafkaAdmin) => Promise<T>,
): Promise<T | undefined> {
  const { kafka } = settings
  if (kafka.Admin === undefined) return undefined
  signal.throwIfAborted()
  const admin = new kafka.Admin(clientOptions(settings, {}))
  const close = (): void => void admin.close().catch(() => {})
  signal.addEventListener('abort', close)
  try {
    return await task(admin)
  } finally {
    signal.removeEventListener('abort', close)
    await admin.close()
  }
}
