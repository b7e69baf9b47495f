import type { BrokerState, Subscriber } from '../contracts/index.ts'

/** What the apps of all shards ask about one source: one question at a time, and what is asked once is asked once. */
export function sharedQuestions(source: Subscriber): Pick<Subscriber, 'redeliversForMs' | 'inspect'> {
  let redelivers: Promise<number | undefined> | undefined
  let inspecting: Promise<BrokerState> | undefined
  return {
    ...(source.redeliversForMs && {
      redeliversForMs: () => {
        redelivers ??= source.redeliversForMs?.() ?? Promise.resolve(undefined)
        return redelivers
      },
    }),
    ...(source.inspect && {
      inspect: () => {
        inspecting ??= (source.inspect?.() ?? Promise.resolve({ warnings: [] })).finally(() => {
          inspecting = undefined
        })
        return inspecting
      },
    }),
  }
}
