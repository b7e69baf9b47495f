import { brokenFailures } from './broken-failures.ts'
import { brokenStores } from './broken-stores.ts'
import type { Exhibit } from './exhibit.ts'
import { handWritten } from './hand-written.ts'

/** Everything that must be caught. */
export const museum: readonly Exhibit[] = [...handWritten, ...brokenStores, ...brokenFailures]
