import { kindOf, type Tables } from '../tables.ts'
import { createInbox } from './inbox-tables.ts'

/**
 * Columns of fixed width come first, so that no byte is lost to alignment. Names and keys are compared byte by byte ("C"),
 * which the contract requires and which is faster. The contents of messages are stored as bytes.
 */
export function createTables(tables: Tables): string {
  const { parked, queue, facts, positions, index } = tables
  return `
${createInbox(tables)}

CREATE TABLE ${parked} (
  sequence      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- Grows with every change. It begins with the time, so that a row which is parked again has none of the row before.
  revision      bigint NOT NULL DEFAULT extract(epoch FROM clock_timestamp()) * 1000000,
  parked_at     timestamptz NOT NULL DEFAULT now(),
  changed_at    timestamptz NOT NULL DEFAULT now(), -- last tried, given up or released
  next_at       timestamptz NOT NULL,
  attempts      int NOT NULL,
  begun         int NOT NULL DEFAULT 0,          -- attempts since one last ended
  step          int NOT NULL,
  independent   boolean NOT NULL,
  released      boolean NOT NULL DEFAULT false,  -- by its redrive
  state         text COLLATE "C" NOT NULL CHECK (state IN ('waiting', 'dead')),
  handler       text COLLATE "C" NOT NULL,
  key           text COLLATE "C" NOT NULL,
  message_id    text COLLATE "C" NOT NULL,
  source        text COLLATE "C" NOT NULL,
  type          text COLLATE "C" NOT NULL,
  reason        text COLLATE "C" NOT NULL,
  shape         text COLLATE "C" NOT NULL,
  order_key     text COLLATE "C",
  business_id   text COLLATE "C",                -- by which people look for it
  redrive       text COLLATE "C",                -- the last it was selected for; a mark only while that is running
  errors        text NOT NULL,                   -- JSON: [{ "at", "message" }], oldest first
  envelope      bytea NOT NULL,
  body          bytea NOT NULL,
  original_body bytea,                           -- as received, where a person has edited it
  UNIQUE (handler, key)
);
CREATE INDEX ${index('parked_due')} ON ${parked} (handler, next_at, sequence) WHERE state = 'waiting';
CREATE INDEX ${index('parked_steps')} ON ${parked} (message_id, source, step);
CREATE INDEX ${index('parked_order')} ON ${parked} (handler, order_key, state, sequence) WHERE order_key IS NOT NULL;
CREATE INDEX ${index('parked_source')} ON ${parked} (source, sequence);
CREATE INDEX ${index('parked_business')} ON ${parked} (business_id, sequence) WHERE business_id IS NOT NULL;
CREATE INDEX ${index('parked_groups')} ON ${parked} (handler, reason, shape) WHERE state = 'dead';
CREATE INDEX ${index('parked_redrive')} ON ${parked} (redrive, released, sequence) WHERE redrive IS NOT NULL;

CREATE TABLE ${queue} (
  sequence   bigint GENERATED ALWAYS AS IDENTITY,
  visible_at timestamptz NOT NULL DEFAULT now(),
  sent_at    timestamptz NOT NULL DEFAULT now(),
  lane       bigint,                             -- a hash of the message's key; those of one lane are taken in order
  deliveries int NOT NULL DEFAULT 0,
  queue      text COLLATE "C" NOT NULL,
  envelope   bytea NOT NULL,
  body       bytea NOT NULL,
  PRIMARY KEY (queue, sequence)
) WITH (fillfactor = 50);                        -- a message that is taken stays in its page: no index has visible_at or deliveries
CREATE INDEX ${index('queue_lanes')} ON ${queue} (queue, lane, sequence) WHERE lane IS NOT NULL;

CREATE TABLE ${positions} (
  consumer_group text COLLATE "C" NOT NULL,
  source         text COLLATE "C" NOT NULL,
  partition      text COLLATE "C" NOT NULL,
  next_position  text COLLATE "C" NOT NULL,     -- where to go on reading
  incarnation    text COLLATE "C" NOT NULL,     -- of the source; in another one the numbers have begun anew
  PRIMARY KEY (consumer_group, source, partition)
) WITH (fillfactor = 50);

CREATE TABLE ${facts} (
  revision   bigint NOT NULL,                    -- grows with every change of the value; so the row of an expired fact stays
  for_ms     float8,                             -- how long it was to stand
  expires_at timestamptz,
  name       text COLLATE "C" PRIMARY KEY,
  value      text NOT NULL
);
CREATE INDEX ${index('facts_kind')} ON ${facts} (${kindOf('name')}, revision);
`.trim()
}
