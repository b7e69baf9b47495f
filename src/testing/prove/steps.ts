/** Something that a process does with one message, as seen from outside. */
export interface Step {
  readonly kind: 'claim' | 'query' | 'publish' | 'intend' | 'bookkeeping' | 'commit' | 'ack'
  /** The statement, the type of a published message, or the effect of an intended call. */
  readonly text: string
  /** The handler that made the query. */
  readonly handler?: string | undefined
  /** The id of the message that the handler was called with. */
  readonly message?: string | undefined
}

/** Faults at a step. */
export type StepFault = 'crash-before' | 'crash-after' | 'error' | 'copy-elsewhere' | 'answer-lost'

/** Faults that concern a message as a whole. */
export type MessageFault =
  | 'twice-in-a-batch'
  | 'again'
  | 'again-after-restart'
  | 'neighbour-fails-before'
  | 'neighbour-fails-after'

/** What the plan of a run orders at a step. */
export type Strike =
  | { readonly kind: 'crash-before' }
  | { readonly kind: 'crash-after' }
  | { readonly kind: 'error' }
  /** For a commit. `happened` says whether the database had committed. */
  | { readonly kind: 'answer-lost'; readonly happened: boolean }
  /** Something else is started, and awaited if the step can wait. */
  | { readonly kind: 'meanwhile'; begin(): Promise<void> }

const faultsOf: Readonly<Record<Step['kind'], readonly StepFault[]>> = {
  claim: ['crash-before', 'crash-after', 'error', 'copy-elsewhere'],
  query: ['crash-before', 'crash-after', 'error', 'copy-elsewhere'],
  // Publishing and intending only record something at this point, so nothing can fail.
  publish: ['crash-before', 'crash-after', 'copy-elsewhere'],
  intend: ['crash-before', 'crash-after', 'copy-elsewhere'],
  bookkeeping: ['crash-before', 'crash-after', 'error', 'copy-elsewhere'],
  commit: ['crash-before', 'crash-after', 'error', 'copy-elsewhere', 'answer-lost'],
  ack: ['crash-before', 'crash-after', 'error', 'copy-elsewhere'],
}

export function faultsAt(step: Step): readonly StepFault[] {
  return faultsOf[step.kind]
}

export const stepFaults: readonly StepFault[] = [
  'crash-before',
  'crash-after',
  'error',
  'copy-elsewhere',
  'answer-lost',
]

export const messageFaults: readonly MessageFault[] = [
  'twice-in-a-batch',
  'again',
  'again-after-restart',
  'neighbour-fails-before',
  'neighbour-fails-after',
]

/** The text as one line, shortened to fit. */
export function oneLine(text: string, longest = 60): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > longest ? `${line.slice(0, longest - 1)}…` : line
}
