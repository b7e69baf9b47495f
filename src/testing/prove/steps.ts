/** What a process does with one message, as seen from outside. */
export interface Step {
  readonly kind: 'claim' | 'query' | 'publish' | 'bookkeeping' | 'commit' | 'ack'
  /** The statement, or the type of a published message. */
  readonly text: string
  /** Whose query it is. */
  readonly handler?: string | undefined
}

/** What can be done to a step. */
export type StepFault = 'crash-before' | 'crash-after' | 'error' | 'copy-elsewhere' | 'answer-lost'

/** What can happen around a message as a whole. */
export type MessageFault =
  | 'twice-in-a-batch'
  | 'again'
  | 'again-after-restart'
  | 'neighbour-fails-before'
  | 'neighbour-fails-after'

/** Told by the plan of a run when a step is reached. */
export type Strike =
  | { readonly kind: 'crash-before' }
  | { readonly kind: 'crash-after' }
  | { readonly kind: 'error' }
  /** Of a commit: `happened` says whether the database had done it. */
  | { readonly kind: 'answer-lost'; readonly happened: boolean }
  /** Something else is started, and waited for where the step can wait. */
  | { readonly kind: 'meanwhile'; begin(): Promise<void> }

const faultsOf: Readonly<Record<Step['kind'], readonly StepFault[]>> = {
  claim: ['crash-before', 'crash-after', 'error', 'copy-elsewhere'],
  query: ['crash-before', 'crash-after', 'error', 'copy-elsewhere'],
  // It is only noted down at this moment: there is nothing that could fail.
  publish: ['crash-before', 'crash-after', 'copy-elsewhere'],
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

/** One line, cut to what fits. */
export function oneLine(text: string, longest = 60): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > longest ? `${line.slice(0, longest - 1)}…` : line
}
