export {
  type AlertEpisode,
  type AlertIdentity,
  type DueNotice,
  listEpisodes,
  nameOfAlert,
  packEpisode,
  unpackEpisode,
} from './alert-episodes.ts'
export {
  type ChangedFact,
  changedFact,
  type FactRow,
  kindOfFact,
  latestFactFirst,
  stillStands,
} from './changed-fact.ts'
export { databaseNow, timeOfRevision } from './database-now.ts'
export { bucketOf, countDuration, endOfBucket, type Histogram, mergeInto, quantile } from './histogram.ts'
export { rememberedHandlers, rememberHandlers } from './known-handlers.ts'
export { type Leases, leasesOf } from './leases.ts'
export { listMinutes, type MinuteOfProcess, minuteFact, minuteMs } from './minutes.ts'
export { listPauses, nameOfPause, type Pause, packPause } from './pauses.ts'
export { pinScheme } from './pinned-scheme.ts'
export {
  listReports,
  nameOfReport,
  type ProcessReport,
  packReport,
  type ReceivedReport,
  type ReportedBroker,
  type ReportedHandler,
  type ReportedTrouble,
  type RunningCall,
  receivedReport,
} from './process-reports.ts'
export {
  isReservationOver,
  longestReservationWhy,
  type ParticipantState,
  type ReservationState,
  reservationFact,
  reservationFacts,
} from './reservation-state.ts'
export {
  type DuplicateOfProcess,
  listDuplicates,
  nameOfDuplicates,
  packDuplicates,
  type SeenDuplicate,
} from './seen-duplicates.ts'
export {
  addCounts,
  type BatchCounts,
  type Counts,
  countsOf,
  countsOfDestination,
  type DestinationCounts,
  type HandlerCounts,
  isNothing,
  noCounts,
} from './statistics.ts'
export { type Suspects, suspectsOf } from './suspects.ts'
