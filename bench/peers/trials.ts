import type { Pool } from 'pg'
import type { IncomingMessage } from '../../src/contracts/index.ts'
import { makeWorkload, randomFrom } from '../transfers/workload.ts'
import type { Contestant } from './contestant.ts'
import { countEffects, countEntries, type Effects, until } from './effects.ts'
import type { Grounds } from './grounds.ts'
import { type Line, openLine } from './lines.ts'

export const trialNames = ['duplicates', 'copies', 'kills'] as const

export type TrialName = (typeof trialNames)[number]

export interface TrialResult extends Effects {
  /** Messages that were neither done nor given up when nobody waited any longer. */
  readonly left: number
  /** Messages that the library keeps as failed. */
  readonly givenUp: number
}

export interface TrialOptions {
  readonly messages: number
  readonly kills: number
  /** How long a library gets to come back to what it has, after the last thing that happened to it. */
  readonly atMostMs?: number
}

interface Trial {
  readonly line: Line
  readonly messages: readonly IncomingMessage[]
  readonly kills: number
  readonly pool: Pool
  /** Until everything is done, or for as long as anybody waits. */
  settled(): Promise<void>
}

const trials: Record<TrialName, (trial: Trial) => Promise<void>> = {
  /** Every message a second time, after it has taken effect. */
  async duplicates({ line, messages, settled }) {
    await line.startWorker(0)
    await line.send(messages)
    await settled()
    await line.send(messages)
    await settled()
  },

  /** Every message twice at the same time, with two worker processes. */
  async copies({ line, messages, settled }) {
    await Promise.all([line.startWorker(0), line.startWorker(1)])
    await Promise.all([line.send(messages, 0), line.send(messages, 1)])
    await settled()
  },

  /** One worker process, killed again and again while it handles messages. */
  async kills({ line, messages, kills, pool, settled }) {
    const random = randomFrom(kills)
    const portion = Math.ceil(messages.length / (kills + 1))
    await line.startWorker(0)
    for (let kill = 0; kill <= kills; kill++) {
      const before = await countEntries(pool)
      await line.send(messages.slice(kill * portion, (kill + 1) * portion))
      if (kill === kills) break
      const wanted = before + 1 + Math.floor((random() * portion) / 2)
      await until(async () => (await countEntries(pool)) >= wanted, { everyMs: 1, atMostMs: 30_000 })
      await line.killWorker(0)
      await line.startWorker(0)
    }
    await settled()
  },
}

export async function runTrial(
  contestant: Contestant,
  grounds: Grounds,
  name: TrialName,
  { messages, kills, atMostMs = 120_000 }: TrialOptions,
): Promise<TrialResult> {
  return await grounds.use(async (ground, pool) => {
    await contestant.install(ground)
    const line = await openLine(contestant, ground)
    try {
      const workload = makeWorkload({ messages, seed: 5, keyed: false, duplicateShare: 0 })
      const isSettled = async () => (await line.left()) === 0
      await trials[name]({
        line,
        messages: workload.deliveries,
        kills,
        pool,
        async settled() {
          await Promise.race([until(isSettled, { everyMs: 50, atMostMs }), line.failed()])
        },
      })
      return { ...(await countEffects(pool, messages)), left: await line.left(), givenUp: await line.givenUp() }
    } finally {
      await line.close()
    }
  })
}
