export const tables = `
CREATE TABLE justonce_meta (
  name text PRIMARY KEY,
  value text NOT NULL
) WITHOUT ROWID;

INSERT INTO justonce_meta (name, value) VALUES ('epoch', lower(hex(randomblob(8))));

CREATE TABLE justonce_inbox (
  handler text NOT NULL,
  key text NOT NULL,
  fingerprint blob,
  processed_at integer NOT NULL,
  state text NOT NULL,
  result text,
  PRIMARY KEY (handler, key)
) WITHOUT ROWID;

CREATE TABLE justonce_parked (
  sequence integer PRIMARY KEY AUTOINCREMENT,
  handler text NOT NULL,
  key text NOT NULL,
  message_id text NOT NULL,
  type text NOT NULL,
  source text NOT NULL,
  envelope blob NOT NULL,
  body blob NOT NULL,
  state text NOT NULL,
  attempts integer NOT NULL,
  reason text NOT NULL,
  errors text NOT NULL,
  step integer NOT NULL,
  independent integer NOT NULL,
  parked_at integer NOT NULL,
  next_at integer NOT NULL,
  UNIQUE (handler, key)
);
CREATE INDEX justonce_parked_due ON justonce_parked (state, next_at, sequence);
CREATE INDEX justonce_parked_steps ON justonce_parked (source, message_id, step);

CREATE TABLE justonce_outbox (
  sequence integer PRIMARY KEY AUTOINCREMENT,
  id text NOT NULL UNIQUE,
  envelope blob NOT NULL,
  body blob NOT NULL,
  state text NOT NULL,
  attempts integer NOT NULL,
  next_at integer NOT NULL,
  lease text,
  error text
);
CREATE INDEX justonce_outbox_due ON justonce_outbox (state, sequence, next_at);

CREATE TABLE justonce_queue (
  ticket integer PRIMARY KEY AUTOINCREMENT,
  queue text NOT NULL,
  envelope blob NOT NULL,
  body blob NOT NULL,
  deliveries integer NOT NULL,
  visible_at integer NOT NULL
);
CREATE INDEX justonce_queue_next ON justonce_queue (queue, ticket, visible_at);
`
