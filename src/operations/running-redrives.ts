import { JustonceError } from '../errors/index.ts'
import { keepAudit } from './audit.ts'
import { checkText } from './letter-filter.ts'
import { checkSignature } from './signature.ts'
import type { OperableSite } from './site.ts'
import type { RedriveStatus, Signature } from './types.ts'

export async function redriveStatus<Tx>(site: OperableSite<Tx>, id: string): Promise<RedriveStatus> {
  const { redrive, progress } = await known(site, id)
  const { unreleased, untried, failed } = redrive.reached ?? progress
  return { ...redrive, unreleased, untried, failed, succeeded: redrive.selected - unreleased - untried - failed }
}

/** Ends it, unless it has ended by itself. */
export async function stopRedrive<Tx>(site: OperableSite<Tx>, id: string, signature: Signature): Promise<boolean> {
  const { by, why } = checkSignature(signature, 'stopRedrive()')
  const { store } = site
  if ((await known(site, id)).redrive.state !== 'running') return false
  await store.transaction(async (tx) => {
    await store.redrives.end(tx, id, 'stopped')
    await keepAudit(site, tx, { action: 'stop-redrive', by, why, subject: { id } })
  })
  // It may have ended by itself between the look and the stop.
  const isStopped = (await known(site, id)).redrive.state === 'stopped'
  if (isStopped) site.changed({ kind: 'redrive-stopped', id })
  return isStopped
}

async function known<Tx>({ store }: OperableSite<Tx>, id: string) {
  checkText(id, 'The id of a redrive')
  const found = await store.redrives.find(id)
  if (found !== undefined) return found
  throw new JustonceError('REDRIVE_UNKNOWN', { message: `There is no redrive ${JSON.stringify(id)}.` })
}
