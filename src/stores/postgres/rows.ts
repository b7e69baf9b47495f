import { rowReaders } from '../sql/rows.ts'
import { bytesIn, textIn } from './cells.ts'

export const { parkedIn, groupIn, redriveIn, progressIn, auditIn, leasedIn, deadIn, queuedIn } = rowReaders({
  textIn,
  bytesIn,
})
