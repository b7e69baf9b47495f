import type { Answer } from './answer.ts'
import { type Choice, questions } from './decisions.ts'
import { isOfUse, whyOfNoUse } from './load.ts'
import { snippetFor } from './snippet.ts'
import { isPattern } from './work-code.ts'

export interface Decided {
  readonly choice: Choice
  readonly schemes: readonly Scheme[]
  readonly beware: readonly string[]
  /** `undefined` if no code of ours is needed. */
  readonly snippet: string | undefined
}

interface Scheme {
  readonly scheme: string
  readonly why: string
  readonly page: string
  /** The folder of a program that shows it. */
  readonly example?: string
}

/** What to use for it, and what to know. The guide docs/guides/choosing.md says the same at length. */
export function decide(choice: Choice): Decided {
  const { effect, database, broker, load } = choice
  const isWithout = broker === 'none' && (effect === 'harmless' || effect === 'sampled')
  if (isWithout)
    return {
      choice,
      schemes: [],
      beware: ['Nothing has to be kept for that: call the code as it is.'],
      snippet: undefined,
    }
  const answers: Answer[] = [
    questions.effect.answers[effect],
    questions.database.answers[database],
    questions.broker.answers[broker],
    ...(isOfUse(choice) ? [questions.load.answers[load]] : []),
  ]
  const beware = [...answers.flatMap((answer) => answer.beware ?? []), ...whatRedisLacks(choice)]
  return {
    choice,
    schemes: answers.flatMap((answer) => schemeOf(answer) ?? []),
    beware: [...beware, ...whyOfNoUse(choice)],
    snippet: snippetFor(choice),
  }
}

function schemeOf({ scheme, why, page, example }: Answer): Scheme | undefined {
  if (scheme === undefined || why === undefined || page === undefined) return undefined
  // As the example, from where the package is.
  return { scheme, why, page: `docs/${page}`, ...(example !== undefined && { example: `examples/${example}` }) }
}

function whatRedisLacks(choice: Choice): readonly string[] {
  if (choice.database !== 'redis') return []
  return [
    ...(isPattern(choice)
      ? ['The patterns are for SQL databases. On Redis, the command that you give has to check it.']
      : []),
    ...(choice.effect === 'several-databases'
      ? ['Nothing can be set aside in Redis: the databases that take part have to be SQL databases.']
      : []),
    ...(choice.broker === 'kafka-positions'
      ? ['Redis keeps no positions: there the records of messages are kept instead.']
      : []),
  ]
}
