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
import type { BenchOptions, Lines, Row, Suite } from './suite.ts'
import { makeWorkload } from './transfers/workload.ts'

export const peers: Suite = {
  name: 'peers',
  about: 'the same transfers by hand, with other libraries and with justonce: how fast',
  defaults: { rounds: 3, messages: 5_000 },
  quick: { rounds: 1, messages: 100 },

  async run(options, say) {
    installPeers(say)
    const contestants = await loadContestants()
    const grounds = await openGrounds()
    try {
      say(grounds.about)
      const rows = await race(contestants, grounds, options, say)
      const speed = speedLines(rows, contestants)
      const settings = settingLines(contestants, versionOf)
      const machine = `${aboutMachine(grounds)}\n\n${alignColumns(settings)}`
      return {
        rows,
        tables: [
          { title: 'Messages per second', lines: speed },
          { title: 'Settings', lines: settings },
        ],
        writePage: () => writeParts({ machine, speed: speedPart(speed, options) }),
      }
    } finally {
      await grounds.close()
    }
  },
}

export interface TrialsOptions extends BenchOptions {
  /** How often the worker is killed. */
  readonly kills: number
}

/** Apart from their speed: this takes much longer, and does not need a machine of its own. */
export const peerTrials: Suite<TrialsOptions> = {
  name: 'peer-trials',
  about: 'the same with duplicates, concurrent copies and kills: what is lost or doubled',
  defaults: { rounds: 1, messages: 300, kills: 5 },
  quick: { rounds: 1, messages: 40, kills: 1 },

  async run(options, say) {
    installPeers(say)
    const contestants = await loadContestants()
    const grounds = await openGrounds()
    try {
      say(grounds.about)
      const outcomes = await tryAll(contestants, grounds, options, say)
      return {
        rows: [],
        more: { outcomes },
        tables: [{ title: `Of ${options.messages} messages`, lines: correctnessLines(outcomes) }],
        writePage: () => writeParts({ correctness: correctnessPart(outcomes, options) }),
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
  options: Pick<TrialsOptions, 'messages' | 'kills'> & Pick<TrialOptions, 'atMostMs'>,
  say: (line: string) => void,
): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = []
  for (const contestant of contestants) {
    const trials: Partial<Record<TrialName, TrialResult>> = {}
    for (const trial of trialNames) {
      const result = await runTrial(contestant, grounds, trial, options)
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

function speedPart(lines: Lines, { rounds, messages }: BenchOptions): string {
  const measured = `Medians of ${rounds} rounds of ${messages.toLocaleString('en-US')} messages.`
  return `${measured}\n\n${alignColumns(lines)}`
}

export function correctnessPart(
  outcomes: readonly Outcome[],
  { messages, kills }: Pick<TrialsOptions, 'messages' | 'kills'>,
): string {
  const sent = `${messages} messages in each trial, ${kills} kills.`
  return `${sent}\n\n${alignColumns(correctnessLines(outcomes))}`
}
