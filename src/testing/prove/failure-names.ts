/** What can be wrong with a handler. Each name has a text in explanations.ts. */
export const failureNames = [
  'handler-fails',
  'commits-itself',
  'writes-outside-tx',
  'calls-out',
  'not-awaited',
  'runs-on',
  'swallows-error',
  'reads-clock',
  'reads-randomness',
  'keeps-state',
  'depends-on-batch',
  'lost-update',
  'interleaves-badly',
  'effect-lost',
  'effect-doubled',
  'effect-differs',
  'never-settled',
] as const

/** What `prove()` can find. */
export type FailureName = (typeof failureNames)[number]
