import type { Link } from '../link.ts'
import type { SimProcess } from '../process.ts'
import type { Scheduler } from '../scheduler.ts'

/** A broker notices a silent client by missed heartbeats. */
const heartbeatMs = 15_000

export function watchHeartbeat(process: SimProcess, link: Link, scheduler: Scheduler): void {
  if (link.isLost) return
  const isSilent = () => !process.isAlive || process.isPaused
  const wasSilent = isSilent()
  scheduler.after(heartbeatMs, () => {
    if (wasSilent && isSilent()) link.lose('missed heartbeats')
    else watchHeartbeat(process, link, scheduler)
  })
}
