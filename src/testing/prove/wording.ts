import type { MessageFault, Step, StepFault } from './steps.ts'

/** Placed before the name of a step, or after the id of a message. */
export const faultNames: Readonly<Record<StepFault | MessageFault, string>> = {
  'crash-before': 'crash before',
  'crash-after': 'crash after',
  error: 'transient error at',
  'copy-elsewhere': 'a copy in another process at',
  'answer-lost': 'lost answer to',
  'twice-in-a-batch': 'is delivered twice in one batch',
  again: 'is redelivered after success',
  'again-after-restart': 'is redelivered after a restart',
  'neighbour-fails-before': 'shares a batch with a message that fails before it',
  'neighbour-fails-after': 'shares a batch with a message that fails after it',
}

/** `query 1`, `query 2`, `commit`: numbered if there are several of a kind. */
export function stepNames(steps: readonly Step[]): readonly string[] {
  const counts = Map.groupBy(steps, ({ kind }) => kind)
  const seen = new Map<Step['kind'], number>()
  return steps.map(({ kind }) => {
    const number = (seen.get(kind) ?? 0) + 1
    seen.set(kind, number)
    return kind === 'query' || (counts.get(kind)?.length ?? 0) > 1 ? `${kind} ${number}` : kind
  })
}
