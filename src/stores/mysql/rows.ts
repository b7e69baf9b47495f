import { rowReaders } from '../sql/rows.ts'
import { bytesIn, textIn } from './cells.ts'

export const { parkedIn, groupIn, redriveIn, progressIn, queuedIn } = rowReaders({
  textIn,
  bytesIn,
})
