import { JustonceError } from '../errors/index.ts'
import { keepAudit } from './audit.ts'
import { checkText } from './letter-filter.ts'
import { endRedrive, type FoundRedrive, findRedrives, progressOf, runningRedrives } from './redrives.ts'
import { despiteRivals, RivalError } from './rivals.ts'
import type { Site } from './site.ts'
import type { RedriveStatus, WhoAndWhy } from './types.ts'
import { checkWhoAndWhy } from './who-and-why.ts'

export async function redriveStatus<Tx>(site: Site<Tx>, id: string): Promise<RedriveStatus> {
  const { redrive } = await known(site, id)
  const { unreleased, untried, failed } = redrive.reached ?? (await progressOf(site.store, id))
  // A dead letter that had reached no handler may have failed in several.
  const succeeded = Math.max(0, redrive.selected - unreleased - untried - failed)
  return { ...redrive, unreleased, untried, failed, succeeded }
}

/** Ends the redrive, unless it has already ended. */
export async function stopRedrive<Tx>(site: Site<Tx>, id: string, whoAndWhy: WhoAndWhy): Promise<boolean> {
  const { by, why } = checkWhoAndWhy(whoAndWhy, 'stopRedrive()')
  const { store } = site
  const isStopped = await despiteRivals(async () => {
    const running = await runningRedrives(store)
    const found = await known(site, id)
    if (found.redrive.state !== 'running') return false
    const reached = await progressOf(store, id)
    await store.transaction(async (tx) => {
      if (!(await endRedrive(store, tx, running, found, { state: 'stopped', reached }))) throw new RivalError()
      await keepAudit(site, tx, { action: 'stop-redrive', by, why, subject: { id } })
    })
    return true
  })
  if (isStopped) site.changed({ kind: 'redrive-stopped', id })
  return isStopped
}

async function known<Tx>({ store }: Site<Tx>, id: string): Promise<FoundRedrive> {
  checkText(id, 'The id of a redrive')
  const [found] = await findRedrives(store, [id])
  if (found !== undefined) return found
  throw new JustonceError('REDRIVE_UNKNOWN', { message: `There is no redrive ${JSON.stringify(id)}.` })
}
