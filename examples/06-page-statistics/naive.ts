import { deliveries } from './views.ts'

/** Counts deliveries, and calls them views. */
export function naive(): string {
  const counts = Map.groupBy(deliveries, ({ page }) => page)
  return [...counts]
    .sort()
    .map(([page, some]) => `${page} ${some.length}`)
    .join(', ')
}
