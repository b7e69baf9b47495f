import { availableParallelism, cpus } from 'node:os'
import { alignColumns } from './align-columns.ts'
import type { Contestant } from './peers/contestant.ts'
import { loadContestants } from './peers/contestants.ts'
import { type Grounds, openGrounds } from './peers/grounds.ts'
import { installPeers, versionOf } from './peers/install.ts'
import { writeParts } from './peers/page.ts'
import { measureSpeed } from './peers/speed.ts'
import { correctnessLines, type Outcome, settingLines, speedLines } from './peers/tables.ts'
import { runTrial, type TrialName, type TrialOptions, type TrialResult, trialNames } from './peers/trials.ts'
import { interleaved } from './rounds.ts'
import type { BenchOptions, Row, Suite } from './suite.ts'
import { makeWorkload } from './transfers/workload.ts'

export interface PeersOptions extends BenchOptions {
  /** Messages of one trial of correctness. */
  readonly trialMessages: number
  /** How often the worker is killed. */
  readonly kills: number
}

export const peers: Suite<PeersOptions> = {
  name: 'peers',
  about: 'the same transfers by hand, with other libraries and with justonce: how fast, and what is lost or doubled',
  defaults: { rounds: 3, messages: 5_000, trialMessages: 300, kills: 5 },
  quick: { rounds: 1, messages: 100, trialMessages: 40, kills: 1 },

  async run(options, say) {
    installPeers(say)
    const contestants = await loadContestants()
    const grounds = await openGrounds()
    try {
      say(grounds.about)
      const rows = await race(contestants, grounds, options, say)
      const outcomes = await tryAll(contestants, grounds, options, say)
      const speed = speedLines(rows, contestants)
      const correctness = correctnessLines(outcomes)
      const settings = settingLines(contestants, versionOf)
      const machine = `${aboutMachine(grounds)}\n\n${alignColumns(settings)}`
      return {
        rows,
        more: { outcomes },
        tables: [
          { title: 'Messages per second', lines: speed },
          { title: `Of ${options.trialMessages} messages`, lines: correctness },
          { title: 'Settings', lines: settings },
        ],
        writePage: () => {
          writeParts({ machine, speed: alignColumns(speed), correctness: correctnessPart(outcomes, options) })
        },
      }
    } finally {
      await grounds.close()
    }
  },
}

async function race(
  contestants: readonly Contestant[],
  grounds: Grounds,
  { rounds, messages }: BenchOptions,
  say: (line: string) => void,
): Promise<readonly Row[]> {
  const workload = (count: number) => makeWorkload({ messages: count, seed: 1, keyed: false, duplicateShare: 0 })
  say('warming up')
  for (const contestant of contestants) await measureSpeed(contestant, grounds, workload(Math.min(500, messages)))
  const ways = contestants.map((contestant) => ({
    name: contestant.name,
    against: (contestants[0] as Contestant).name,
    measure: () => measureSpeed(contestant, grounds, workload(messages)),
  }))
  return await interleaved(ways, rounds, say)
}

/** Every trial of correctness with every contestant. */
export async function tryAll(
  contestants: readonly Contestant[],
  grounds: Grounds,
  { trialMessages, ...options }: Pick<PeersOptions, 'trialMessages' | 'kills'> & Pick<TrialOptions, 'atMostMs'>,
  say: (line: string) => void,
): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = []
  for (const contestant of contestants) {
    const trials: Partial<Record<TrialName, TrialResult>> = {}
    for (const trial of trialNames) {
      const result = await runTrial(contestant, grounds, trial, { ...options, messages: trialMessages })
      say(`  ${trial}  ${contestant.name}: ${result.lost} lost, ${result.doubled} doubled`)
      trials[trial] = result
    }
    outcomes.push({ name: contestant.name, trials: trials as Outcome['trials'] })
  }
  return outcomes
}

export function aboutMachine({ about }: Grounds): string {
  const processor = cpus()[0]?.model ?? 'an unknown processor'
  return `${availableParallelism()} cores (${processor}), Node ${process.versions.node}. ${about}.`
}

export function correctnessPart(
  outcomes: readonly Outcome[],
  { trialMessages, kills }: Pick<PeersOptions, 'trialMessages' | 'kills'>,
): string {
  const sent = `${trialMessages} messages in each trial, ${kills} kills.`
  return `${sent}\n\n${alignColumns(correctnessLines(outcomes))}`
}
