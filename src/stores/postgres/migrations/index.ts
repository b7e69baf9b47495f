import type { Tables } from '../tables.ts'
import { createTables } from './0001-tables.ts'

export type Migration = (tables: Tables) => string

/** Numbered from 1 by their position. A released migration is never changed, only followed by the next one. */
export const migrations: readonly Migration[] = [createTables]

/** The table with the version and the epoch; created once, before the first migration. */
export function createMeta({ meta }: Tables): string {
  return `
CREATE TABLE ${meta} (
  only_row    boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  version     int NOT NULL,
  horizon     timestamptz,                       -- who was born before it may have had a record; it only grows
  removed_until timestamptz,                     -- records born before it may be gone; the horizon never falls below it
  clock_seen  timestamptz NOT NULL DEFAULT now(), -- what our clock said when it was last believed
  clock_doubted timestamptz,                     -- what it said when it had jumped, for as long as it is not believed
  epoch       text NOT NULL                      -- changes whenever records may have vanished
);
INSERT INTO ${meta} (version, epoch) VALUES (0, ${newEpoch});
`.trim()
}

/** An epoch that has never been used before. */
export const newEpoch = 'md5(random()::text || clock_timestamp()::text)'

export function setVersion({ meta }: Tables, version: number): string {
  return `UPDATE ${meta} SET version = ${version};`
}
