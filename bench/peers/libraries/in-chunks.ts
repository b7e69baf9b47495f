import type { IncomingMessage } from '../../../src/contracts/index.ts'
import { decode } from '../../transfers/plain-consumers.ts'
import type { Transfer } from '../../transfers/workload.ts'

/** What a job carries: the identity of the message beside its body. */
export interface Job extends Transfer {
  readonly id: string
}

export function jobOf(message: IncomingMessage): Job {
  return { id: message.id as string, ...decode(message) }
}

/** So many at once for a library that can send many with one call. */
const chunkSize = 100

export async function inChunks(
  messages: readonly IncomingMessage[],
  send: (jobs: readonly Job[]) => Promise<unknown>,
  size = chunkSize,
): Promise<void> {
  for (let from = 0; from < messages.length; from += size) await send(messages.slice(from, from + size).map(jobOf))
}
