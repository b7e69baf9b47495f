import type { Lines, Row } from '../suite.ts'
import type { Contestant } from './contestant.ts'
import { type TrialName, type TrialResult, trialNames } from './trials.ts'

export interface Outcome {
  readonly name: string
  readonly trials: Readonly<Record<TrialName, TrialResult>>
}

export function speedLines(rows: readonly Row[], contestants: readonly Contestant[]): Lines {
  const kindOf = new Map(contestants.map(({ name, kind }) => [name, kind]))
  return [
    ['contestant', 'measured', 'per second', 'ratio to bare', 'each message once'],
    ...rows.map(({ name, perSecond, ratio, correct }) => [
      name,
      kindOf.get(name) === 'queue' ? 'sending and handling' : 'handling',
      String(perSecond),
      ratio.toFixed(2),
      correct ? 'yes' : 'NO',
    ]),
  ]
}

const headOf: Record<TrialName, string> = { duplicates: 'duplicates', copies: 'concurrent copies', kills: 'kills' }

export function correctnessLines(outcomes: readonly Outcome[]): Lines {
  const head = trialNames.flatMap((trial) => [`${headOf[trial]}: lost`, 'doubled'])
  const cells = ({ lost, doubled, left, givenUp }: TrialResult) => {
    const kept = [...(left > 0 ? [`${left} waiting`] : []), ...(givenUp > 0 ? [`${givenUp} given up`] : [])]
    return [kept.length > 0 ? `${lost} (${kept.join(', ')})` : `${lost}`, `${doubled}`]
  }
  return [
    ['contestant', ...head],
    ...outcomes.map(({ name, trials }) => [name, ...trialNames.flatMap((trial) => cells(trials[trial]))]),
  ]
}

/** What each contestant is, and what was chosen for it. */
export function settingLines(contestants: readonly Contestant[], versionOf: (name: string) => string): Lines {
  return [
    ['contestant', 'version', 'setting'],
    ...contestants.map(({ name, package: from, setting }) => {
      return [name, from === undefined ? 'this repository' : `\`${from}\` ${versionOf(from)}`, setting]
    }),
  ]
}
