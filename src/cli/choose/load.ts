import type { Choice } from './decisions.ts'
import { nameOfEffect } from './effect-code.ts'

/** Whether what the load asks for changes anything here. */
export function isOfUse(choice: Choice): boolean {
  const { effect, database, broker, load } = choice
  const isCall = nameOfEffect(choice) !== undefined
  switch (load) {
    case 'usual':
      return false
    case 'many':
      return broker !== 'none' && !isCall
    case 'far':
      // A ledger looks at what it has found; in one transaction that is what others have not committed either.
      return broker !== 'none' && !isCall && database === 'postgres' && effect !== 'sampled' && effect !== 'ledger'
    case 'duplicates':
      return database !== 'redis' && effect !== 'harmless' && effect !== 'sampled'
  }
}

/** Why it does not. */
export function whyOfNoUse(choice: Choice): readonly string[] {
  if (choice.load === 'usual' || isOfUse(choice)) return []
  if (choice.load === 'duplicates')
    return ['A hot side is Redis beside a SQL database, for handlers that keep a record; it does not help here.']
  if (choice.load === 'far')
    return ['Interleaving is for handlers on Postgres that do not build on what they have read; it does not help here.']
  return nameOfEffect(choice) === undefined
    ? ['A call of once() takes one message at a time.']
    : ['Calls are made one by one: see concurrency and perSecond of effects.']
}
