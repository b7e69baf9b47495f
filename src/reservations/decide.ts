import { failed, messageOf, type Tried } from './participant.ts'

export type Decision =
  | { readonly kind: 'confirm' }
  | { readonly kind: 'cancel'; readonly why: string }
  /** Something is missing, and there is time to try it again. */
  | { readonly kind: 'undecided'; readonly error: unknown }

/**
 * Whether a reservation is confirmed or cancelled. All or nothing: one refusal cancels everything, and so does a participant that
 * cannot be reached in time. What is complete is confirmed, however late, and what was confirmed once stays so.
 */
export function decide(tried: Readonly<Record<string, Tried>>, isLate: boolean): Decision {
  const all = Object.entries(tried)
  if (all.some(([, { kind }]) => kind === 'confirmed')) return { kind: 'confirm' }
  for (const [name, each] of all) if (each.kind === 'refused') return { kind: 'cancel', why: because(name, each.error) }
  for (const [name, each] of all) {
    if (each.kind !== 'failed') continue
    return isLate
      ? { kind: 'cancel', why: `Time is up. ${because(name, each.error)}` }
      : { kind: 'undecided', error: failed('try', name, each.error) }
  }
  return { kind: 'confirm' }
}

function because(participant: string, error: unknown): string {
  return `${participant}: ${messageOf(error)}`
}
