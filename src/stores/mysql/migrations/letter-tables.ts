import type { Tables } from '../tables.ts'
import { tableOptions } from './table-options.ts'

/** The redrives that operators have started. */
export function createLetters({ redrives }: Tables): string[] {
  return [
    `CREATE TABLE IF NOT EXISTS ${redrives} (
  id                  varbinary(1200) NOT NULL PRIMARY KEY,
  seq                 bigint NOT NULL AUTO_INCREMENT,
  turn                bigint NOT NULL COMMENT 'when it was last driven, in microseconds',
  started_at          bigint NOT NULL,
  ended_at            bigint NULL,
  per_second          double NULL,
  selected            int NOT NULL,
  canary              int NOT NULL,
  stop_after_failures int NOT NULL,
  reached_unreleased  int NULL COMMENT 'these three: when it ended',
  reached_untried     int NULL,
  reached_failed      int NULL,
  state               enum('running', 'finished', 'stopped') NOT NULL DEFAULT 'running',
  started_by          longblob NOT NULL,
  why                 longblob NOT NULL,
  UNIQUE KEY redrives_seq (seq),
  KEY redrives_turn (state, turn, seq)
) ${tableOptions}`,
  ]
}
