import { below, updateIf } from 'justonce/patterns'
import { sqliteStore } from 'justonce/sqlite'

export const openStore = (path: string) => sqliteStore({ path })

/** Refuses whoever comes with an older fence than the last one who has written. */
export async function writeReport(store: ReturnType<typeof openStore>, fence: number, text: string): Promise<string> {
  const change = { if: { fence: below(fence) }, set: { fence, text } }
  const outcome = await store.transaction((tx) => updateIf(tx, 'reports', { id: 1 }, change))
  return outcome.kind === 'updated' ? 'written' : 'refused'
}
