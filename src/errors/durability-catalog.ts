/** Codes for what may lose commits, or make a database slow or refuse work. An app warns of the first when it starts; the doctor looks for all of them. */
export const durabilityCatalog = {
  COMMITS_NOT_DURABLE: {
    title: 'The server may lose commits when it crashes, and with them records whose messages were acknowledged',
    fix: 'Set fsync, full_page_writes and synchronous_commit to on (Postgres), innodb_flush_log_at_trx_commit to 1, sync_binlog to 1 and innodb_doublewrite to ON (MySQL), appendfsync to everysec or always (Redis).',
  },
  FAILOVER_MAY_LOSE: {
    title: 'A failover to a replica may lose commits, because none of them must have a commit before it is answered',
    fix: 'Set synchronous_standby_names (Postgres), semi-synchronous replication (MySQL) or min-replicas-to-write (Redis), or accept that messages of the last moments may take effect twice after a failover.',
  },
  INDEX_MISSING: {
    title: 'An index of the tables of the store is missing or invalid, so what should be a lookup reads whole tables',
    fix: 'Create it as npx justonce migrate --print shows it. Nothing is wrong but slow.',
  },
  ISOLATION_DEFAULT_STRICT: {
    title: 'Transactions of your own code are stricter than READ COMMITTED unless they say otherwise',
    fix: 'Nothing for handlers: their transactions say it themselves. Open those that you pass to once(), publish() or intend() as READ COMMITTED, or be ready to retry them.',
  },
} as const satisfies Record<string, { title: string; fix: string }>
