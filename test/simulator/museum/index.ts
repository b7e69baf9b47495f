import { brokenDelays } from './broken-delays.ts'
import { brokenFailures } from './broken-failures.ts'
import { brokenIntents } from './broken-intents.ts'
import { brokenInterleaving } from './broken-interleaving.ts'
import { brokenMemories } from './broken-memories.ts'
import { brokenOutcomes } from './broken-outcomes.ts'
import { brokenPositions } from './broken-positions.ts'
import { brokenQueues } from './broken-queues.ts'
import { brokenRecords } from './broken-records.ts'
import { brokenRetention } from './broken-retention.ts'
import { brokenSchedules } from './broken-schedules.ts'
import { brokenStores } from './broken-stores.ts'
import { brokenTransports } from './broken-transports.ts'
import type { Exhibit } from './exhibit.ts'
import { handWritten } from './hand-written.ts'

/** Everything that must be caught. */
export const museum: readonly Exhibit[] = [
  ...handWritten,
  ...brokenStores,
  ...brokenTransports,
  ...brokenFailures,
  ...brokenPositions,
  ...brokenQueues,
  ...brokenRetention,
  ...brokenMemories,
  ...brokenInterleaving,
  ...brokenDelays,
  ...brokenSchedules,
  ...brokenIntents,
  ...brokenOutcomes,
  ...brokenRecords,
]
