import { timelessBorn, timelessUntil } from '../inbox/born.ts'
import type { Tables } from '../tables.ts'

/**
 * The inbox has a partition for each day on which messages were born, so that old records are removed by the day and leave
 * nothing behind. Partitions are created when they are needed. There is no default partition: it would receive the records
 * of removed days, and Postgres could not remove a day without making claims wait.
 */
export function createInbox({ inbox, timeless }: Tables): string {
  return `
CREATE TABLE ${inbox} (
  processed_at timestamptz NOT NULL DEFAULT now(),
  born         timestamptz NOT NULL DEFAULT '${timelessBorn}', -- as the id says; -infinity: it says nothing
  state        "char" NOT NULL DEFAULT 'p',      -- p: processed, k: parked, e: expired, d: discarded
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
