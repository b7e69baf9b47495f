import type { Tables } from '../tables.ts'

/** The redrives that operators have started. */
export function createLetters({ redrives, index }: Tables): string {
  return `
CREATE TABLE ${redrives} (
  seq                 bigint GENERATED ALWAYS AS IDENTITY,
  started_at          timestamptz NOT NULL,
  driven_at           timestamptz NOT NULL,      -- when it was last taken
  ended_at            timestamptz,
  per_second          double precision,
  selected            int NOT NULL,
  canary              int NOT NULL,
  stop_after_failures int NOT NULL,
  reached_unreleased  int,                       -- these three: when it ended
  reached_untried     int,
  reached_failed      int,
  state               text NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'finished', 'stopped')),
  id                  text COLLATE "C" PRIMARY KEY,
  started_by          text NOT NULL,
  why                 text NOT NULL
);
CREATE INDEX ${index('redrives_running')} ON ${redrives} (driven_at, seq) WHERE state = 'running';
CREATE INDEX ${index('redrives_latest')} ON ${redrives} (seq);
`.trim()
}
