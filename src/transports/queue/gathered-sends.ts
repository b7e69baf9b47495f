import type { MessageToQueue } from '../../contracts/index.ts'

/** So many run at once: a few callers do not wait for each other. */
const atOnce = 4
const most = { messages: 500, bytes: 4 * 1_048_576 }

interface Waiting {
  readonly messages: readonly MessageToQueue[]
  resolve(): void
  reject(error: unknown): void
}

/**
 * Sends what comes while others are being sent together, with one statement and one commit. Each caller learns what became of its own
 * messages: if a send fails that several share, and nothing of it was stored, each of them is sent again alone.
 */
export function gatheredSends(
  send: (messages: readonly MessageToQueue[]) => Promise<void>,
  mayBeStored: (error: unknown) => boolean,
): (messages: readonly MessageToQueue[]) => Promise<void> {
  const waiting: Waiting[] = []
  let running = 0

  async function sendTogether(callers: readonly Waiting[]): Promise<void> {
    try {
      await send(callers.flatMap(({ messages }) => messages))
      for (const { resolve } of callers) resolve()
    } catch (error) {
      if (callers.length > 1 && !mayBeStored(error)) for (const caller of callers) await sendTogether([caller])
      else for (const { reject } of callers) reject(error)
    }
  }

  async function work(): Promise<void> {
    running++
    while (waiting.length > 0) await sendTogether(waiting.splice(0, fitting(waiting)))
    running--
  }

  return (messages) =>
    new Promise((resolve, reject) => {
      waiting.push({ messages, resolve, reject })
      if (running < atOnce) void work()
    })
}

/** How many of the callers share the next statement; at least one. */
function fitting(callers: readonly Waiting[]): number {
  let [messages, bytes] = [0, 0]
  const end = callers.findIndex((caller) => {
    messages += caller.messages.length
    for (const { message } of caller.messages) bytes += message.envelope.byteLength + message.body.byteLength
    return messages > most.messages || bytes > most.bytes
  })
  return end === -1 ? callers.length : Math.max(1, end)
}
