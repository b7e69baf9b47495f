import { rowReaders } from '../sql/rows.ts'
import { bytesIn, textIn } from './literals-and-cells.ts'

export const { parkedIn, queuedIn, listedIn } = rowReaders({
  textIn,
  bytesIn,
})
