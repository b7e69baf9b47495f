import type { IncomingMessage } from '../contracts/index.ts'
import { anyJson, anyText } from '../encoding/any-text.ts'
import { JustonceError } from '../errors/index.ts'

export interface ShardOf {
  readonly shards: readonly string[]
  readonly shardOf: (message: IncomingMessage) => string
}

/** The error says why nobody knows. Never throws, whatever `shardOf` throws or answers: one message must not stop all. */
export function shardOrError(message: IncomingMessage, { shards, shardOf }: ShardOf): string | JustonceError {
  let shard: unknown
  try {
    shard = shardOf(message)
  } catch (cause) {
    return new JustonceError('SHARD_UNKNOWN', { message: `shardOf() threw ${shortened(anyText(cause))}.`, cause })
  }
  if (typeof shard === 'string' && shards.includes(shard)) return shard
  if (shard instanceof Promise) shard.catch(() => {})
  const said = shard instanceof Promise ? 'a promise' : shortened(anyJson([shard]).slice(1, -1))
  return new JustonceError('SHARD_UNKNOWN', { message: `shardOf() answered ${said}.` })
}

/** Why a message must not be run in this shard. */
export function whyNotHere(message: IncomingMessage, here: string, options: ShardOf): JustonceError | undefined {
  const shard = shardOrError(message, options)
  if (shard === here) return undefined
  if (typeof shard !== 'string') return shard
  return new JustonceError('SHARD_UNKNOWN', {
    message: `It belongs to the shard ${shard} now, and is kept by ${here}.`,
  })
}

function shortened(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}
