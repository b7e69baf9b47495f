import { timelessBorn, timelessUntil } from '../inbox/born.ts'
import type { Tables } from '../tables.ts'

/**
 * The inbox has a part for each day on which messages were born, so that old records go by the day and without a trace;
 * those are made as they are needed. There is no default part: it would take what belongs to a day that was removed, and
 * Postgres could not remove a day beside it without keeping claims waiting.
 */
export function createInbox({ inbox, timeless }: Tables): string {
  return `
CREATE TABLE ${inbox} (
  processed_at timestamptz NOT NULL DEFAULT now(),
  born         timestamptz NOT NULL DEFAULT '${timelessBorn}', -- as the id says; -infinity: it says nothing
  state        "char" NOT NULL DEFAULT 'd',      -- d: processed, p: parked, e: expired, x: discarded
  fingerprint  bytea,
  handler      text COLLATE "C" NOT NULL,
  key          text COLLATE "C" NOT NULL,
  result       text,
  PRIMARY KEY (handler, key, born)
) PARTITION BY RANGE (born);

CREATE TABLE ${timeless} (LIKE ${inbox} INCLUDING DEFAULTS INCLUDING INDEXES);
ALTER TABLE ${inbox} ATTACH PARTITION ${timeless} FOR VALUES FROM (MINVALUE) TO ('${timelessUntil}');
`.trim()
}
