import { listReports, type ReceivedReport } from '../facts/index.ts'
import type { Site } from './site.ts'

/** What the processes that are alive have reported, those that started last first. Of this process itself: what it would report now. */
export async function reportsOf<Tx>({
  store,
  ownReport,
}: Pick<Site<Tx>, 'store' | 'ownReport'>): Promise<readonly ReceivedReport[]> {
  const stored = await listReports(store)
  const own = ownReport?.()
  if (own === undefined) return stored
  const others = stored.filter(({ id }) => id !== own.id)
  return [own, ...others].toSorted((a, b) => b.startedAt.getTime() - a.startedAt.getTime())
}
