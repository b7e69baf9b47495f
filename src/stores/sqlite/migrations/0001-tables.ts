/** Columns that can be long come last, because SQLite must read all of a column to reach the ones behind it. */
export const tables = `
CREATE TABLE main.justonce_meta (
  only_row integer PRIMARY KEY CHECK (only_row = 1),
  version integer NOT NULL,
  horizon integer, -- what was born before it and has no record is too old
  removed_until integer, -- records born before it may be gone; the horizon never falls below it
  clock_seen integer NOT NULL, -- what the clock said when it was last believed
  clock_doubted integer, -- what it said when it had jumped, for as long as it is not believed
  pinged_at integer,
  epoch text NOT NULL -- changes whenever records may have vanished
);

INSERT INTO main.justonce_meta (only_row, version, clock_seen, epoch)
  VALUES (1, 0, cast(round(unixepoch('subsec') * 1000) as integer), lower(hex(randomblob(8))));

CREATE TABLE main.justonce_inbox (
  handler text NOT NULL,
  key text NOT NULL,
  fingerprint blob,
  processed_at integer NOT NULL,
  state text NOT NULL,
  born integer,
  result text,
  PRIMARY KEY (handler, key)
) WITHOUT ROWID;
CREATE INDEX main.justonce_inbox_born ON justonce_inbox (born) WHERE born IS NOT NULL;

CREATE TABLE main.justonce_positions (
  consumer_group text NOT NULL,
  source text NOT NULL,
  partition text NOT NULL,
  next_position text NOT NULL,
  incarnation text NOT NULL,
  PRIMARY KEY (consumer_group, source, partition)
) WITHOUT ROWID;

CREATE TABLE main.justonce_facts (
  name text PRIMARY KEY,
  revision integer NOT NULL,
  for_ms integer,
  expires_at integer,
  value text NOT NULL
) WITHOUT ROWID;
CREATE INDEX main.justonce_facts_kind ON justonce_facts (substr(name, 1, instr(name || ' ', ' ') - 1), revision);

CREATE TABLE main.justonce_parked (
  sequence integer PRIMARY KEY AUTOINCREMENT,
  revision integer NOT NULL,
  handler text NOT NULL,
  key text NOT NULL,
  message_id text NOT NULL,
  type text NOT NULL,
  source text NOT NULL,
  order_key text,
  business_id text, -- by which people look for it
  step integer NOT NULL,
  independent integer NOT NULL,
  state text NOT NULL,
  attempts integer NOT NULL,
  begun integer NOT NULL,
  parked_at integer NOT NULL,
  changed_at integer NOT NULL,
  next_at integer NOT NULL,
  redrive text,
  released integer NOT NULL,
  reason text NOT NULL,
  shape text NOT NULL,
  errors text NOT NULL,
  envelope blob NOT NULL,
  body blob NOT NULL,
  original_body blob,
  UNIQUE (handler, key)
);
CREATE INDEX main.justonce_parked_due ON justonce_parked (next_at, sequence, handler, order_key) WHERE state = 'waiting';
CREATE INDEX main.justonce_parked_order ON justonce_parked (handler, order_key, state, sequence) WHERE order_key IS NOT NULL;
CREATE INDEX main.justonce_parked_steps ON justonce_parked (message_id, source, step);
CREATE INDEX main.justonce_parked_source ON justonce_parked (source, sequence);
CREATE INDEX main.justonce_parked_business ON justonce_parked (business_id, sequence) WHERE business_id IS NOT NULL;
CREATE INDEX main.justonce_parked_groups ON justonce_parked (handler, reason, shape, parked_at, changed_at) WHERE state = 'dead';
CREATE INDEX main.justonce_parked_redrive ON justonce_parked (redrive, released, sequence) WHERE redrive IS NOT NULL;

CREATE TABLE main.justonce_queue (
  sequence integer PRIMARY KEY AUTOINCREMENT,
  queue text NOT NULL,
  lane text, -- a hash of the message's key; those of one lane are taken in order
  deliveries integer NOT NULL,
  visible_at integer NOT NULL,
  sent_at integer NOT NULL,
  envelope blob NOT NULL,
  body blob NOT NULL
);
CREATE INDEX main.justonce_queue_order ON justonce_queue (queue, sequence, visible_at, lane);
CREATE INDEX main.justonce_queue_lanes ON justonce_queue (queue, lane, sequence, visible_at) WHERE lane IS NOT NULL;
`
