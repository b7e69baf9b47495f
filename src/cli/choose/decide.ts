import { type Answer, type Choice, questions } from './decisions.ts'
import { snippetFor } from './snippet.ts'

export interface Decided {
  readonly choice: Choice
  readonly schemes: readonly { readonly scheme: string; readonly why: string; readonly page: string }[]
  readonly beware: readonly string[]
  /** `undefined` if no code of ours is needed. */
  readonly snippet: string | undefined
}

const calls = ['keyed-call', 'probed-call', 'blind-call']
const patterns = ['insert', 'state', 'latest']

/** What to use for it, and what to know. The guide docs/guides/choosing.md says the same at length. */
export function decide(choice: Choice): Decided {
  const { effect, database, broker, load } = choice
  const isWithout = broker === 'none' && (effect === 'harmless' || effect === 'sampled')
  const answers: Answer[] = isWithout
    ? []
    : [
        questions.effect.answers[effect],
        questions.database.answers[database],
        questions.broker.answers[broker],
        ...(isOfUse(choice) ? [questions.load.answers[load]] : []),
      ]
  const beware = answers.flatMap((answer) => answer.beware ?? [])
  if (isWithout) beware.push('Nothing has to be kept for that: call the code as it is.')
  if (database === 'redis' && patterns.includes(effect))
    beware.push('The patterns are for SQL databases. On Redis, the command that you give has to check it.')
  if (load === 'many' && !isOfUse(choice))
    beware.push(
      calls.includes(effect)
        ? 'Calls are made one by one: see concurrency and perSecond of effects.'
        : 'once() takes one at a time.',
    )
  if (load === 'duplicates' && !isOfUse(choice))
    beware.push('A hot side is Redis beside a SQL database, for handlers that keep a record; it does not help here.')
  return {
    choice,
    schemes: answers.flatMap(({ scheme, why, page }) =>
      scheme === undefined || why === undefined || page === undefined ? [] : [{ scheme, why, page }],
    ),
    beware,
    snippet: isWithout ? undefined : snippetFor(choice),
  }
}

/** Whether what the load asks for changes anything here. */
export function isOfUse({ effect, database, broker, load }: Choice): boolean {
  if (load === 'usual') return false
  if (load === 'many') return broker !== 'none' && !calls.includes(effect)
  return database !== 'redis' && effect !== 'harmless' && effect !== 'sampled'
}
