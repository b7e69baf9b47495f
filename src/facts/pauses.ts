import type { Facts } from '../contracts/index.ts'
import { timeOfRevision } from './database-now.ts'

/** A handler that an operator has paused in all processes. */
export interface Pause {
  readonly handler: string
  readonly by: string
  readonly why: string
  readonly since: Date
}

const kind = 'pause'
const mostPauses = 1_000

export function nameOfPause(handler: string): string {
  return `${kind} ${handler}`
}

export function packPause({ by, why }: Pick<Pause, 'by' | 'why'>): string {
  return JSON.stringify({ by, why })
}

/** Latest first. One that cannot be read is still a pause. */
export async function listPauses({ facts }: { readonly facts: Pick<Facts<never>, 'list'> }): Promise<readonly Pause[]> {
  return (await facts.list(kind, mostPauses)).map(({ name, value, revision }) => ({
    handler: name.slice(kind.length + 1),
    ...signedIn(value),
    since: timeOfRevision(revision),
  }))
}

function signedIn(value: string): Pick<Pause, 'by' | 'why'> {
  try {
    const { by = '', why = '' } = JSON.parse(value) as Partial<Pause>
    return { by, why }
  } catch {
    return { by: '', why: '' }
  }
}
