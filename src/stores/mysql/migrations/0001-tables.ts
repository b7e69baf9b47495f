import type { Tables } from '../tables.ts'
import { tableOptions } from './table-options.ts'

/**
 * Names and keys are bytes, so no collation treats two of them as equal or ignores a trailing space, and nothing depends on
 * the connection. Times are milliseconds since 1970, so that no session time zone can change them.
 */
export function createTables(tables: Tables): string[] {
  const { inbox, parked, scopes, queue, facts, positions } = tables
  return [
    `CREATE TABLE IF NOT EXISTS ${inbox} (
  handler      varbinary(400) NOT NULL,
  \`key\`        varbinary(1024) NOT NULL,
  state        enum('processed', 'parked', 'expired', 'discarded', 'open') NOT NULL DEFAULT 'processed'
                 COMMENT 'open: claimed in a transaction that was committed before it was done',
  born         bigint NULL COMMENT 'where the id carries a time',
  processed_at bigint NOT NULL,
  token        binary(8) NOT NULL COMMENT 'of the claim that made it',
  fingerprint  varbinary(64) NULL,
  result       longblob NULL,
  PRIMARY KEY (handler, \`key\`),
  KEY inbox_born (born, processed_at)
) ${tableOptions}`,
    `CREATE TABLE IF NOT EXISTS ${parked} (
  sequence      bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
  revision      bigint NOT NULL COMMENT 'grows with every change; begins with the time',
  parked_at     bigint NOT NULL,
  changed_at    bigint NOT NULL COMMENT 'last tried, given up or released',
  next_at       bigint NOT NULL,
  attempts      int NOT NULL,
  begun         int NOT NULL DEFAULT 0 COMMENT 'attempts since one last ended',
  step          int NOT NULL,
  independent   tinyint NOT NULL,
  released      tinyint NOT NULL DEFAULT 0 COMMENT 'by its redrive',
  state         enum('waiting', 'dead') NOT NULL,
  handler       varbinary(400) NOT NULL,
  \`key\`         varbinary(1024) NOT NULL,
  message_id    varbinary(1200) NOT NULL,
  source        varbinary(1200) NOT NULL,
  type          varbinary(1200) NOT NULL,
  reason        varbinary(1200) NOT NULL,
  shape         varbinary(1200) NOT NULL,
  order_key     varbinary(1200) NULL,
  business_id   varbinary(1200) NULL COMMENT 'by which people look for it',
  redrive       varbinary(1200) NULL COMMENT 'the last it was selected for; a mark only while that is running',
  errors        longblob NOT NULL COMMENT 'JSON: [{ "at", "message" }], oldest first',
  envelope      longblob NOT NULL,
  \`body\`        longblob NOT NULL,
  original_body longblob NULL COMMENT 'as received, where a person has edited it',
  UNIQUE KEY parked_key (handler, \`key\`),
  KEY parked_due (state, next_at, sequence, handler),
  KEY parked_steps (message_id, source, step),
  KEY parked_order (handler, order_key, state, sequence),
  KEY parked_source (source, sequence),
  KEY parked_business (business_id, sequence),
  KEY parked_groups (state, handler, reason, shape),
  KEY parked_redrive (redrive, released, sequence)
) ${tableOptions}`,
    `CREATE TABLE IF NOT EXISTS ${scopes} (
  scope   bigint unsigned NOT NULL PRIMARY KEY COMMENT 'a hash of handler and order key; locked, never read',
  made_at bigint NOT NULL,
  KEY scopes_made (made_at)
) ${tableOptions}`,
    `CREATE TABLE IF NOT EXISTS ${queue} (
  sequence   bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
  visible_at bigint NOT NULL,
  sent_at    bigint NOT NULL,
  lane       bigint NULL COMMENT 'a hash of the message''s key; those of one lane are taken in order',
  deliveries int NOT NULL DEFAULT 0,
  queue      varbinary(1024) NOT NULL,
  envelope   longblob NOT NULL,
  \`body\`     longblob NOT NULL,
  KEY queue_order (queue, sequence),
  KEY queue_lanes (queue, lane, sequence)
) ${tableOptions}`,
    `CREATE TABLE IF NOT EXISTS ${facts} (
  name       varbinary(1300) NOT NULL PRIMARY KEY,
  kind       varbinary(1300) AS (SUBSTRING_INDEX(name, x'20', 1)) STORED,
  revision   bigint NOT NULL COMMENT 'grows with every change of the value',
  for_ms     bigint NULL COMMENT 'how long it was to stand',
  expires_at bigint NULL,
  value      longblob NOT NULL,
  KEY facts_kind (kind, revision)
) ${tableOptions}`,
    `CREATE TABLE IF NOT EXISTS ${positions} (
  consumer_group varbinary(400) NOT NULL,
  source         varbinary(1200) NOT NULL,
  \`partition\`    varbinary(1200) NOT NULL,
  next_position  longblob NOT NULL COMMENT 'where to go on reading',
  incarnation    longblob NOT NULL COMMENT 'of the source; in another one the numbers have begun anew',
  PRIMARY KEY (consumer_group, source, \`partition\`)
) ${tableOptions}`,
  ]
}
