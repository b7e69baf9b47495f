import { rowReaders } from '../sql/rows.ts'
import { bytesIn, textIn } from './values-as-text.ts'

export const { parkedIn, queuedIn, listedIn } = rowReaders({
  textIn,
  bytesIn,
})
