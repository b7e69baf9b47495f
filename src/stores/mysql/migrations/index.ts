import { nowMs } from '../literals-and-cells.ts'
import type { Tables } from '../tables.ts'
import { createTables } from './0001-tables.ts'

export type Migrations = readonly ((tables: Tables) => readonly string[])[]

/**
 * Numbered from 1 by their position. A released migration is never changed, only followed by the next one. Each is a list of
 * statements that are safe to run again, because MySQL commits every one of them separately.
 */
export const migrations: Migrations = [createTables]

/** The table with the version, the epoch and the horizon; created before the first migration. */
export function createMeta({ meta }: Tables): string[] {
  return [
    `CREATE TABLE IF NOT EXISTS ${meta} (
  only_row tinyint unsigned NOT NULL PRIMARY KEY,
  version  int NOT NULL,
  horizon  bigint NULL COMMENT 'milliseconds since 1970; what was born before it and has no record is too old',
  removed_until bigint NULL COMMENT 'records born before it may be gone; the horizon never falls below it',
  clock_seen    bigint NOT NULL COMMENT 'what our clock said when it was last believed',
  clock_doubted bigint NULL COMMENT 'what it said when it had jumped, for as long as it is not believed',
  epoch    varbinary(64) NOT NULL COMMENT 'changes whenever records may have vanished'
) ENGINE = InnoDB`,
    `INSERT INTO ${meta} (only_row, version, clock_seen, epoch) VALUES (1, 0, ${nowMs}, SHA1(UUID())) ON DUPLICATE KEY UPDATE only_row = 1`,
  ]
}

/** An epoch that has never been used before. */
export function newEpoch(): string {
  return `x'${Buffer.from(crypto.randomUUID()).toString('hex')}'`
}

export function setVersion({ meta }: Tables, version: number): string {
  return `UPDATE ${meta} SET version = ${version}`
}
