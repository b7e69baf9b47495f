import { listRepoPaths } from '../repo.ts'
import type { Check } from './check.ts'

const maxEntries = 14

/** Not shown there, or the same page in another language: whoever looks for that looks beside the first one. */
const uncounted = /^(?:\.|README\.[\w-]+\.md$)/

/** The root is the first page a newcomer reads, so it stays short. */
export function findCrowdedRoot(paths: readonly string[]): string[] {
  const entries = new Set(paths.map((path) => path.split('/')[0] as string).filter((entry) => !uncounted.test(entry)))
  if (entries.size <= maxEntries) return []
  return [`the root has ${entries.size} entries; the limit is ${maxEntries}: ${[...entries].sort().join(', ')}`]
}

export const rootEntriesCheck: Check = {
  name: 'root-entries',
  async run() {
    return { problems: findCrowdedRoot(listRepoPaths()) }
  },
}
