import { rowReaders } from '../sql/rows.ts'
import { bytesIn, textIn } from './cells.ts'

export const { parkedIn, queuedIn } = rowReaders({
  textIn,
  bytesIn,
})
