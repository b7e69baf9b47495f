import { arrivals } from './profiles.ts'

/** The last one to arrive wins. */
export function naive(): string {
  const last = arrivals.at(-1)
  return `${last?.name} <${last?.email}>`
}
