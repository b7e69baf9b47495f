/** Stores: reaching them, their tables, files, rights and settings. */
export const storeCatalog = {
  STORE_BUSY: {
    title: 'Another transaction held the database for too long',
    fix: 'Keep transactions short, or raise busyTimeoutMs.',
  },
  STORE_DENIED: {
    title: 'The database has refused the store access to its own tables or keys',
    fix: 'Grant the role of the store its rights on them; on Redis, the commands that the error names. If it has them, other code has left a pooled connection with another role (on Postgres, use SET LOCAL ROLE there), with tables locked or in an XA transaction: such connections are discarded.',
  },
  STORE_CLOSED: {
    title: 'The store, its pool or its database is closed',
    fix: 'Close the store after app.stop() has resolved, not before.',
  },
  STORE_FULL: {
    title: 'The disk of the store is full',
    fix: 'Make room; nothing is handled or acknowledged until then.',
  },
  STORE_CANNOT: {
    title: 'The store cannot do what it was asked to do',
    fix: "Use a store that can; each driver's page says what it lacks.",
  },
  STORE_UNREACHABLE: {
    title: 'The store cannot be reached, or cannot work at the moment',
    fix: 'Nothing is handled or acknowledged until it is back; check the server and the network.',
  },
  FILE_REPLACED: {
    title: 'The SQLite file, its log or the index of that was removed or replaced while it was open',
    fix: 'Stop every process before you restore a backup of the file, and leave the files -wal and -shm alone. Nothing is handled or acknowledged until the file is there; if you passed in your own connection, open it again.',
  },
  FILE_LOCK_BROKEN: {
    title: 'Something else wrote to the SQLite file while a transaction of the store had it locked',
    fix: 'In one process, use one library for the file: node:sqlite and better-sqlite3 do not see the locks of one another (with better-sqlite3, pass open to sqliteStore). Do not read or copy the file with fs in a process that has it open, and do not put it on a network drive.',
  },
  FILES_ATTACHED: {
    title: 'Other files are attached to the connection, and a commit over several files is not atomic in SQLite',
    fix: 'Detach them: read and write other files through a separate connection.',
  },
  SCHEMA_MISSING: {
    title: "The store's tables do not exist",
    fix: 'Call store.schema.install(), or run what store.schema.print() prints.',
  },
  SCHEMA_OLD: {
    title: "The store's tables are from an older version than this code",
    fix: 'Call store.schema.install(), or run what store.schema.print() prints.',
  },
  SCHEMA_NEW: {
    title: "The store's tables are from a newer version than this code",
    fix: 'Deploy the newer justonce; this one would not understand the tables.',
  },
  POOL_TOO_SMALL: {
    title: 'The connection pool is too small for the concurrency',
    fix: 'Raise the pool size to what is needed, or lower concurrency.',
  },
  RECORDS_MAY_BE_EVICTED: {
    title: 'The server may evict records when its memory is full, and their messages would run again',
    fix: 'Set maxmemory-policy noeviction on the Redis that keeps records.',
  },
  RECORDS_NOT_DURABLE: {
    title: 'The server keeps records only in memory, and loses them when it restarts',
    fix: 'Set appendonly yes on the Redis that keeps records.',
  },
  SERVER_NOT_CHECKED: {
    title: 'The server does not reveal its configuration',
    fix: 'Make sure that maxmemory-policy is noeviction and appendonly is yes.',
  },
  TABLES_NOT_TRANSACTIONAL: {
    title: 'Some tables have a storage engine without transactions: what a failed handler writes there stays',
    fix: 'ALTER TABLE … ENGINE = InnoDB for every table that handlers write to, and default_storage_engine = InnoDB.',
  },
  TABLES_HAVE_TRIGGERS: {
    title:
      'Triggers run before the store writes to its own tables: one that changes a value makes messages run twice, or never',
    fix: 'Drop them, or make them AFTER triggers, which cannot change what is written.',
  },
  ENCODING_TOO_NARROW: {
    title: 'The encoding of the database cannot hold every possible key',
    fix: 'Keep the tables of the store in a database with ENCODING UTF8, or make sure that keys are ASCII.',
  },
  ROWS_MAY_BE_HIDDEN: {
    title: 'Row-level security may hide rows of the store from its own role',
    fix: 'Use the owner of the tables, a role with BYPASSRLS, or a policy FOR ALL TO that role USING (true). Nothing reports a hidden row: a parked message would never be retried.',
  },
  PARTITION_MISSING: {
    title: 'The records of a day have no partition, and the role of the store may not create one',
    fix: 'As the owner of the tables, run npx justonce migrate --store <file> --days-from <that day>. Until then only the messages of that day are held; none of them is lost.',
  },
  OWNER_NEEDED: {
    title: 'The role of the app may not create or remove partitions',
    fix: 'Run npx justonce maintain with the role that owns the tables, at least once a week (docs/operations/least-privilege.md).',
  },
  BORN_CHANGED: {
    title: 'The time of messages is read from their ids in a different way than when their records were made',
    fix: 'Keep the scheme, or give the handler a new name and list the old one in formerly: then both are checked.',
  },
  CLOCK_JUMPED: {
    title: 'The clock of the database has moved further than time has passed',
    fix: 'Correct the clock, or wait: if it runs on from there for a day, it is trusted. If the horizon was raised too far, lower it with justonce retention repair-horizon.',
  },
  RETENTION_TOO_SHORT: {
    title: 'Records are removed before the transport has stopped redelivering their messages',
    fix: 'Raise retention.days, or shorten the time for which the broker keeps and redelivers messages.',
  },
  RETENTION_WITHOUT_TIME: {
    title: 'Old records should be removed, but no handler has ids that say when they were made',
    fix: "Set ids: 'uuidv7', 'ulid' or 'ksuid' (or born on the handler), or accept re-runs with retention.timeless.",
  },
} as const
