import { hash } from 'node:crypto'
import type { Facts } from '../contracts/index.ts'

/** What tells a rule from others. Two apps may have different rules of one name, and a changed rule begins anew. */
export interface AlertIdentity {
  readonly app: string | undefined
  readonly rule: string
  readonly when: string
  readonly over: number
  readonly forMs: number
}

/** A notice that has not been given yet. Times are milliseconds of the database's clock. */
export interface DueNotice {
  /** The same however often it has to be given. */
  readonly id: string
  readonly state: 'firing' | 'resolved'
  readonly value: number
  readonly at: number
  readonly since: number
  /** Counted before each attempt: it may end the process. */
  readonly attempts: number
}

/**
 * What the store knows of a rule. `pending`: it is over its limit, but not for long enough. `calming`: it has fired and is no longer over
 * it, but not for long enough.
 */
export interface AlertEpisode extends AlertIdentity {
  readonly phase: 'quiet' | 'pending' | 'firing' | 'calming'
  /** How long the phase lasts already, as far as somebody has watched. */
  readonly heldMs: number
  readonly seenAt: number
  /** When it began to be over the limit. */
  readonly since: number
  readonly value: number
  readonly notices: readonly DueNotice[]
}

const kind = 'alert'
const mostEpisodes = 1_000

export function nameOfAlert({ app, rule, when, over, forMs }: AlertIdentity): string {
  return `${kind} ${hash('sha256', JSON.stringify([app ?? null, rule, when, over, forMs]), 'base64url')}`
}

export function packEpisode(episode: AlertEpisode): string {
  return JSON.stringify(episode)
}

const phases = ['quiet', 'pending', 'firing', 'calming']

/** `undefined` if it was changed by hand and says nothing: then the rule begins anew. */
export function unpackEpisode(value: string | undefined): AlertEpisode | undefined {
  if (value === undefined) return undefined
  try {
    const episode = JSON.parse(value) as AlertEpisode
    const isWhole = [episode.heldMs, episode.seenAt, episode.since, episode.value].every(Number.isFinite)
    return isWhole && phases.includes(episode.phase) && Array.isArray(episode.notices) ? episode : undefined
  } catch {
    return undefined
  }
}

/** Those that are not quiet, latest change first. */
export async function listEpisodes({ facts }: { readonly facts: Pick<Facts<never>, 'list'> }) {
  const found = await facts.list(kind, mostEpisodes)
  return found.flatMap(({ value }) => unpackEpisode(value) ?? []).filter(({ phase }) => phase !== 'quiet')
}
