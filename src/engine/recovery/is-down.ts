import type { Engine } from '../engine.ts'

/** How long a client may need to notice that its connection was closed, and to open another one. */
const pausesMs = [25, 100, 400]
/** Whoever takes so long to refuse does not refuse because of one connection. */
const slowMs = 1_000

/**
 * Whether the store is unavailable: it answers no ping. A single connection that was closed says nothing about the store,
 * but pings that are sent before the client has noticed it fail, too: a message that makes the store close its connection
 * every time would never be found out. So what fails fast is asked again.
 */
export async function isDown<Tx>({ store, clock }: Pick<Engine<Tx>, 'store' | 'clock'>): Promise<boolean> {
  for (const pauseMs of pausesMs) {
    const askedAt = clock.monotonicMs()
    try {
      await store.ping()
      return false
    } catch {
      if (clock.monotonicMs() - askedAt > slowMs) return true
    }
    await clock.sleep(pauseMs)
  }
  return await store.ping().then(
    () => false,
    () => true,
  )
}
