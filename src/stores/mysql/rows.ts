import { rowReaders } from '../sql/rows.ts'
import { bytesIn, textIn } from './cells.ts'

export const { parkedIn, groupIn, redriveIn, progressIn, auditIn, queuedIn } = rowReaders({
  textIn,
  bytesIn,
})
