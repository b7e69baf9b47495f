import type { Tables } from '../tables.ts'

/**
 * Columns of fixed width come first, so that no byte is lost to alignment. Names and keys are compared byte by byte
 * ("C"): that is what the contract asks for, and it is faster. What messages bring is stored as bytes.
 */
export function createTables({ inbox, parked, outbox, queue, index }: Tables): string {
  return `
CREATE TABLE ${inbox} (
  processed_at timestamptz NOT NULL DEFAULT now(),
  state        "char" NOT NULL DEFAULT 'd',      -- d: processed, p: parked
  fingerprint  bytea,
  handler      text COLLATE "C" NOT NULL,
  key          text COLLATE "C" NOT NULL,
  result       text,
  PRIMARY KEY (handler, key)
);

CREATE TABLE ${parked} (
  id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  parked_at  timestamptz NOT NULL DEFAULT now(),
  next_at    timestamptz NOT NULL,
  attempts   int NOT NULL,
  step       int NOT NULL,
  independent boolean NOT NULL,
  state      text NOT NULL CHECK (state IN ('waiting', 'dead')),
  handler    text COLLATE "C" NOT NULL,
  key        text COLLATE "C" NOT NULL,
  message_id text COLLATE "C" NOT NULL,
  source     text COLLATE "C" NOT NULL,
  type       text NOT NULL,
  reason     text NOT NULL,
  errors     text NOT NULL,                      -- JSON: [{ "at", "message" }], oldest first
  envelope   bytea NOT NULL,
  body       bytea NOT NULL,
  UNIQUE (handler, key)
);
CREATE INDEX ${index('parked_due')} ON ${parked} (next_at, id) WHERE state = 'waiting';
CREATE INDEX ${index('parked_steps')} ON ${parked} (source, message_id, step);

CREATE TABLE ${outbox} (
  seq      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  next_at  timestamptz NOT NULL DEFAULT now(),
  lease    bigint NOT NULL DEFAULT 0,            -- grows with every lease, so that an old one is recognised
  attempts int NOT NULL DEFAULT 0,
  state    text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'dead')),
  id       text COLLATE "C" NOT NULL,
  error    text,
  envelope bytea NOT NULL,
  body     bytea NOT NULL
) WITH (fillfactor = 80);
CREATE INDEX ${index('outbox_pending')} ON ${outbox} (seq) WHERE state = 'pending';

CREATE TABLE ${queue} (
  seq        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  visible_at timestamptz NOT NULL DEFAULT now(),
  deliveries int NOT NULL DEFAULT 0,
  queue      text COLLATE "C" NOT NULL,
  envelope   bytea NOT NULL,
  body       bytea NOT NULL
) WITH (fillfactor = 80);
CREATE INDEX ${index('queue_order')} ON ${queue} (queue, seq);
`.trim()
}
