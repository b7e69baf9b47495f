import type { Operations } from './types.ts'

/** What one of several shards answered, or why it did not: one that is down does not keep the others from answering. */
export type ShardAnswer<Value> =
  | { readonly kind: 'answered'; readonly value: Value }
  | { readonly kind: 'failed'; readonly error: unknown }

/** The same questions, asked of all shards at once; each answers for itself. */
export type OnAllShards<Asked, Shard extends string> = {
  readonly [Name in keyof Asked]: Asked[Name] extends (...given: infer Given) => Promise<infer Value>
    ? (...given: Given) => Promise<Readonly<Record<Shard, ShardAnswer<Value>>>>
    : OnAllShards<Asked[Name], Shard>
}

/** `Operations` of all shards: each call goes to all of them, and resolves to the answer of each. */
export type ShardedOperations<Shard extends string> = OnAllShards<Operations, Shard>

/** Asks all of them. What one of them was asked to change is changed there, whatever becomes of the others. */
export function onAllShards<Shard extends string>(
  operations: Readonly<Record<Shard, Operations>>,
): ShardedOperations<Shard> {
  return spread(operations) as unknown as ShardedOperations<Shard>
}

type Asked = Readonly<Record<string, unknown>>

function spread(ofShards: Readonly<Record<string, unknown>>): Asked {
  const [first] = Object.values(ofShards)
  return Object.fromEntries(
    Object.entries(first as Asked).map(([name, member]) => {
      const members = Object.entries(ofShards).map(([shard, each]) => [shard, (each as Asked)[name]] as const)
      if (typeof member !== 'function') return [name, spread(Object.fromEntries(members))]
      return [name, (...given: unknown[]) => askAll(members as readonly (readonly [string, Ask])[], given)]
    }),
  )
}

type Ask = (...given: unknown[]) => Promise<unknown>

async function askAll(asks: readonly (readonly [string, Ask])[], given: readonly unknown[]): Promise<object> {
  const answers = asks.map(async ([shard, ask]) => [shard, await answerOf(async () => await ask(...given))] as const)
  return Object.fromEntries(await Promise.all(answers))
}

async function answerOf<Value>(ask: () => Promise<Value>): Promise<ShardAnswer<Value>> {
  try {
    return { kind: 'answered', value: await ask() }
  } catch (error) {
    return { kind: 'failed', error }
  }
}
