export {
  type ChangedFact,
  changedFact,
  type FactRow,
  kindOfFact,
  latestFactFirst,
  stillStands,
} from './changed-fact.ts'
export { databaseNow, timeOfRevision } from './database-now.ts'
export { type Leases, leasesOf } from './leases.ts'
export { pinScheme } from './pinned-scheme.ts'
export { type Suspects, suspectsOf } from './suspects.ts'
