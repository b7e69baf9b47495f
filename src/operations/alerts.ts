import type { Facts } from '../contracts/index.ts'
import { listEpisodes } from '../facts/index.ts'
import type { AlertView } from './monitoring-types.ts'

export async function listAlerts(store: { readonly facts: Pick<Facts<never>, 'list'> }): Promise<readonly AlertView[]> {
  return (await listEpisodes(store)).map(({ rule, app, when, over, phase, value, since, seenAt }) => ({
    ...{ rule, app, when, over, value },
    phase: phase as AlertView['phase'],
    since: new Date(since),
    seenAt: new Date(seenAt),
  }))
}
