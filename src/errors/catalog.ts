import { brokerCatalog } from './broker-catalog.ts'
import { durabilityCatalog } from './durability-catalog.ts'
import { intentCatalog } from './intent-catalog.ts'

/**
 * Every code, what it means and what to do about it. Messages and docs/reference/errors.md are generated from here.
 */
export const catalog = {
  MESSAGE_ID_MISSING: {
    title: 'A message arrived without an id, so duplicates cannot be recognised',
    fix: 'Set an id in the producer, or give every handler of this type identify(message).',
  },
  MESSAGE_ID_INVALID: {
    title: 'The id of a message, or the key that identify() returned, cannot be used as a key',
    fix: 'Use 1 to 255 characters of well-formed text without control characters.',
  },
  MESSAGE_TYPE_MISSING: {
    title: 'A message arrived without a type, so no handler can be chosen',
    fix: 'Set the type in the producer (CloudEvents type, a header, or what the transport page names).',
  },
  TYPE_UNKNOWN: {
    title: 'No handler is registered for the type of a message',
    fix: "Register a handler with app.on(type, …), or set unknownTypes: 'ignore'.",
  },
  BODY_NOT_JSON: {
    title: 'The body of a message is not JSON',
    fix: 'Publish JSON encoded as UTF-8, or give the app a codec for this type.',
  },
  BODY_NOT_DECODED: {
    title: 'The codec of a type could not read the body of a message',
    fix: 'Look at the cause: the sender may encode differently, or the codec lacks a schema. Correct it, then redrive the dead letter.',
  },
  BODY_NOT_ENCODED: {
    title: 'The codec of a type could not write a body, or returned something that is not bytes',
    fix: 'Make encode(value, type) return a Uint8Array and not a promise: load schemas before the app starts.',
  },
  BODY_TOO_LARGE: {
    title: 'The body of a message is larger than maxBodyBytes',
    fix: 'Send a reference instead of the content, or raise maxBodyBytes.',
  },
  BODY_UNSAFE: {
    title: 'The body of a message contains a __proto__ property, which can poison objects it is merged into',
    fix: 'Remove the property in the producer; no honest message needs it.',
  },
  BODY_INVALID: {
    title: 'The body of a message does not match its schema',
    fix: 'Correct the producer or the schema, then redrive the dead letter.',
  },
  ENVELOPE_INVALID: {
    title: 'The type, the key or the source of a message is not text',
    fix: 'Make the transport deliver text, or leave out the fields that the message does not have.',
  },
  HEADERS_INVALID: {
    title: 'The headers of a message are not text, or together are larger than maxHeaderBytes',
    fix: 'Send few, short, textual headers; put content into the body.',
  },
  KEY_REUSED: {
    title: 'A message has the same key as another one, but different content',
    fix: "Give each message its own id in the producer; if the content may differ between retries, set fingerprint: 'none' or a function.",
  },
  AROUND_INCOMPLETE: {
    title: 'The around option did not call the handler exactly once',
    fix: 'Call next() exactly once in around(message, next), and wait for it.',
  },
  HANDLER_FAILED: {
    title: 'A handler threw',
    fix: 'See the error history of the parked message; it is retried until its attempts are used up.',
  },
  HANDLER_TIMEOUT: {
    title: 'A handler took longer than its timeoutMs',
    fix: 'Make it faster, or raise timeoutMs; respect context.signal so that work stops in time.',
  },
  HANDLER_NAME_SHARED: {
    title: 'Two apps on one database have handlers of the same name',
    fix: 'Rename one of them with formerly: [name], or give each app tables of its own (prefix or schema of its store).',
  },
  HANDLER_UNKNOWN: {
    title: 'A message waits for a handler that no running app has',
    fix: 'Redrive it when an app has the handler again (with formerly: [name] if it was renamed), or discard it.',
  },
  HOOK_TIMEOUT: {
    title: 'A hook that a handler registered with afterCommit() did not end in time, and is no longer waited for',
    fix: 'Set a time limit on what it calls; work that must happen belongs in the transaction or in a separate message.',
  },
  WAITS_FOR_EARLIER_HANDLER: {
    title: 'An earlier handler of the same message has failed, and this one must wait for it',
    fix: 'It runs as soon as the earlier one has succeeded; register it as independent if it need not wait.',
  },
  TX_CLOSED: {
    title: 'A handler used tx after it had settled',
    fix: 'Await everything the handler starts: a floating promise, the rest of a rejected Promise.all, a timer.',
  },
  TX_NOT_OPEN: {
    title: 'The given tx is not inside a transaction, so what is stored through it would commit by itself',
    fix: 'Begin the transaction first, and pass the client on which it was begun.',
  },
  TX_CONTROL: {
    title:
      'A handler tried to begin, commit or roll back the transaction it was lent, or to change the session it shares',
    fix: 'Leave both to justonce: throw to roll back, return to commit, use SAVEPOINT for a part, and configure connections where they are opened.',
  },
  NOT_INTERLEAVABLE: {
    title: 'A handler with interleave: true did something that other handlers in its transaction would notice',
    fix: 'Remove interleave from this handler, or do without savepoints, session settings, temporary tables and functions such as lastval() in it. Until then its messages run one after the other.',
  },
  TX_ENDED: {
    title: 'The transaction was ended from inside the handler, so everything in it was rolled back',
    fix: 'Find the statement that commits or rolls back (a helper, a trigger, ON CONFLICT ROLLBACK) and remove it.',
  },
  TX_ABORTED: {
    title: 'A handler continued after a database error that had already aborted the transaction',
    fix: 'Let the error propagate, or wrap the risky statement in your own SAVEPOINT.',
  },
  COMMIT_UNKNOWN: {
    title: 'The connection was lost during the commit, so its result is not known',
    fix: 'Nothing: the consumer claims again, which shows the result. With once(), call it again with the same key.',
  },
  COMMIT_ROLLED_BACK: {
    title: 'The database answered the commit with a rollback',
    fix: 'An error inside the transaction was swallowed; let it propagate.',
  },
  STORE_BUSY: {
    title: 'Another transaction held the database for too long',
    fix: 'Keep transactions short, or raise busyTimeoutMs.',
  },
  FILE_REPLACED: {
    title: 'The SQLite file, or its log, was removed or replaced while it was open',
    fix: 'Stop every process before you restore a backup of the file, and leave the files -wal and -shm alone. Nothing is handled or acknowledged until the file is there; if you passed in your own connection, open it again.',
  },
  FILE_LOCK_BROKEN: {
    title: 'Something else wrote to the SQLite file while a transaction of the store had it locked',
    fix: 'In one process, use one library for the file: node:sqlite and better-sqlite3 do not see the locks of one another (with better-sqlite3, pass open to sqliteStore). Do not read or copy the file with fs in a process that has it open, and do not put it on a network drive.',
  },
  STORE_DENIED: {
    title: 'The database has refused the store access to its own tables or keys',
    fix: 'Grant the role of the store its rights on them; on Redis, the commands that the error names. If it has them, other code has left a pooled connection with another role (on Postgres, use SET LOCAL ROLE there), with tables locked or in an XA transaction: such connections are discarded.',
  },
  STATEMENT_LOST: {
    title: 'Postgres has lost a prepared statement in the middle of a transaction, which was rolled back',
    fix: 'Nothing: the work runs again without prepared statements. Keep DEALLOCATE ALL out of handlers.',
  },
  STORE_CLOSED: {
    title: 'The store, its pool or its database is closed',
    fix: 'Close the store after app.stop() has resolved, not before.',
  },
  STORE_FULL: {
    title: 'The disk of the store is full',
    fix: 'Make room; nothing is handled or acknowledged until then.',
  },
  FILES_ATTACHED: {
    title: 'Other files are attached to the connection, and a commit over several files is not atomic in SQLite',
    fix: 'Detach them: read and write other files through a separate connection.',
  },
  ISOLATION_TOO_STRICT: {
    title: 'The transaction that was joined is stricter than READ COMMITTED and met a rival',
    fix: 'Open it as READ COMMITTED, or retry the whole transaction.',
  },
  GUARANTEE_TOO_WEAK: {
    title: 'A handler asks for exactly-once effects from a store that cannot give them',
    fix: "Use an atomic store, or set delivery: 'at-least-once' and make the handler idempotent.",
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
  HANDLER_EXISTS: {
    title: 'Two handlers have the same name',
    fix: 'Give each handler its own name: it is half of the idempotency key.',
  },
  HANDLER_NAME_INVALID: {
    title: 'A handler name cannot be used as a key',
    fix: 'Use 1 to 100 printable characters. A name that is -, or begins with >, @ or !, is reserved.',
  },
  OPTION_UNKNOWN: {
    title: 'An option is unknown',
    fix: 'Check the spelling.',
  },
  OPTION_INVALID: {
    title: 'The value of an option is invalid',
    fix: 'See docs/reference/options.md for that option.',
  },
  SCHEDULE_INVALID: {
    title: 'The times of a schedule cannot be understood, or never come',
    fix: "Give everyMs, or cron with five fields ('0 3 * * 1-5') or a short form (@daily), and a timeZone such as 'Europe/Berlin'.",
  },
  POOL_TOO_SMALL: {
    title: 'The connection pool is too small for the concurrency',
    fix: 'Raise the pool size to what is needed, or lower concurrency.',
  },
  APP_STARTED: {
    title: 'The app is already started, so nothing more can be registered',
    fix: 'Register all handlers before app.start().',
  },
  APP_NOT_STARTABLE: {
    title: 'The app has nothing to do, or was already stopped',
    fix: 'Pass transport, from or to to justonce() and register handlers for incoming messages; create a new app to start again.',
  },
  ROUTE_UNKNOWN: {
    title: 'A published message has a type that leads to no destination, or back to an app that has no handler for it',
    fix: 'Add its type, or prefix.*, to the option routes, and its destination to the option to. A message that comes back needs a handler: app.on(type, …).',
  },
  OUTGOING_REFUSED: {
    title: 'The broker has refused a published message repeatedly',
    fix: 'See its error history; redrive the dead letter when the cause is gone, or discard it.',
  },
  CLAIM_HELD: {
    title: 'Another process holds the claim of this message and does not finish',
    fix: 'Nothing: it is retried later. If it lasts, look for a frozen process.',
  },
  BODY_TOO_DEEP: {
    title: 'The body of a message is nested too deeply to be read',
    fix: 'Send a flatter body, for example a list of references instead of a tree.',
  },
  BODY_CHECK_FAILED: {
    title: 'A schema threw, or did not say whether a body matches it',
    fix: 'Correct the schema, then redrive the dead letter.',
  },
  MESSAGES_MAY_BE_DROPPED: {
    title: 'The broker drops messages that it has delivered too often, because it has nowhere else to put them',
    fix: 'Give the queue a dead-letter exchange (deadLetterQueue), or remove the delivery limit; every process that dies with a message counts.',
  },
  DELAYED: {
    title: 'A message was published with delayMs or at, and waits for its time',
    fix: 'Nothing is wrong: it leaves when it is due. operations.outgoing.delayed() lists such messages, and app.cancel(id) cancels one.',
  },
  WAITS_FOR_BREAKER: {
    title: 'Its handler was failing on everything when the message arrived, and other messages needed the space',
    fix: 'It continues by itself, without losing an attempt, when the breaker closes; the event breaker-opened says why the handler fails.',
  },
  WAITS_FOR_EARLIER_MESSAGE: {
    title: 'An earlier message of the same key has failed, and this one must wait for it',
    fix: "It runs as soon as the earlier one has succeeded. If that is a dead letter, redrive or discard it, or set ordered.whenDead: 'continue'.",
  },
  TOO_MANY_BEHIND: {
    title: 'A dead letter blocks its key, and as many messages wait behind it as may',
    fix: 'Redrive or discard the dead letter that the event key-blocked names, wait until the messages behind it are handled, then redrive these: they keep their order. ordered.mostBehind sets how many may wait.',
  },
  MESSAGE_EXPIRED: {
    title: 'A message arrived after its expiry',
    fix: 'If it is still wanted, publish it again; if this happens often, check the backlog, expires.afterMs and the clocks.',
  },
  PROCESS_DIED: {
    title: 'Processes have died while they handled this message, the last of them with nothing else running',
    fix: 'Look for an abort, an endless loop or exhausted memory in its handlers, fix it, then redrive the dead letter.',
  },
  BACKOFF_INVALID: {
    title: 'A retry policy threw, or returned something that is not a delay',
    fix: "Let backoff return milliseconds of at least 0 or 'dead', and classify return 'permanent' or 'temporary'; the default backoff was used instead.",
  },
  MESSAGE_NOT_KEPT: {
    title:
      'A message that failed could not be kept as it came: it is too large for the store, or the database cannot hold its texts',
    fix: 'Read the error history for both reasons. If the body was too large, only its size and hash are kept: have the producer send it again, smaller. Otherwise the letter holds all of it: redrive it when the database can hold it.',
  },
  ORDER_NOT_KEPT: {
    title: 'A handler needs the messages of a key in order, but a transport does not deliver them in order',
    fix: "Configure the transport so that it does (its page says how), or drop ordered: { by: 'key' }.",
  },
  TOO_OLD_TO_KNOW: {
    title: 'A message is so old that its record may have been removed, so nobody knows whether it was processed',
    fix: 'Check whether its effect is there; redrive the dead letter if it is not, discard it if it is. Raise retention.days if this happens often.',
  },
  ID_FROM_THE_FUTURE: {
    title: 'The id of a message says that it was made in the future',
    fix: 'Correct the clock of the producer; the message waits until the time it names.',
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
  PARTLY_APPLIED: {
    title: 'A command of the handler failed after others had been applied, and Redis cannot roll those back',
    fix: 'Check what was applied, correct it by hand, then discard the dead letter. It is never retried automatically.',
  },
  LEASE_LOST: {
    title: 'The lease was lost while the work was running, so another process may have begun',
    fix: 'Respect the signal, make the work shorter or leaseMs longer, and pass the fence to the system that the work writes to.',
  },
  ...brokerCatalog,
  ...durabilityCatalog,
  ...intentCatalog,
  ARGUMENT_INVALID: {
    title: 'An argument of a command is not a text, an exact number, a bigint or bytes',
    fix: 'Convert it to text yourself, so that exactly what you mean is stored.',
  },
  STORE_CANNOT: {
    title: 'The store cannot do what it was asked to do',
    fix: "Use a store that can; each driver's page says what it lacks.",
  },
  PUBLISH_INVALID: {
    title: 'The body of a message to be published does not match the schema of its type',
    fix: 'Correct the body, or the schema in messages(). In a handler this is a failure like any other, and nothing it did is kept.',
  },
  PUBLISH_REFUSED: {
    title: 'The broker refused a message',
    fix: 'See the cause; the page of the transport lists what it can refuse.',
  },
  LETTERS_NONE_FOUND: {
    title: 'No dead letter matches the selection',
    fix: 'List the dead letters to see what is there: it may have been redriven or discarded meanwhile.',
  },
  LETTER_NOT_DEAD: {
    title: 'A parked message is no longer a dead letter: it waits for an attempt, or has one now',
    fix: 'Wait for its attempts to end; nothing was changed.',
  },
  REDRIVE_RUNNING: {
    title: 'A dead letter belongs to a redrive that is running',
    fix: 'Wait until that redrive has ended, or stop it with stopRedrive(); nothing was changed.',
  },
  REDRIVE_EXPIRED: {
    title: 'A dead letter cannot be redriven because its expiry has passed',
    fix: 'If it is still wanted, publish it again as a new message; if not, discard it.',
  },
  REDRIVE_UNKNOWN: {
    title: 'There is no redrive with this id',
    fix: 'Call redrives() to see the existing ones.',
  },
  EDIT_INVALID: {
    title: 'A dead letter cannot be redriven with the given body',
    fix: 'Select one letter by handler and key, and pass a body that its handler accepts; nothing was changed.',
  },
  RECORD_PARKED: {
    title: 'A record cannot be forgotten while a parked message owns it',
    fix: 'Redrive or discard the parked message instead.',
  },
  RECORD_UNREADABLE: {
    title: 'What the inbox holds for a message cannot be read, so nobody knows whether it was handled',
    fix: 'Check what wrote to the key that the error names. Restore the record from a backup, or remove the key if the message may run.',
  },
  STORE_UNREACHABLE: {
    title: 'The store cannot be reached, or cannot work at the moment',
    fix: 'Nothing is handled or acknowledged until it is back; check the server and the network.',
  },
  CLAIM_LOST: {
    title: 'The lease of a claim expired before its transaction could commit, so none of it was applied',
    fix: 'Nothing: it is retried. If it happens often, look for frozen processes or raise leaseMs.',
  },
  DELIVERY_GONE: {
    title: 'A message was in hand and is no longer in its queue, so nothing that was done for it was committed',
    fix: 'Nothing: another process has handled it, or the database was restored to a state in which it was never sent.',
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
} as const satisfies Record<string, { title: string; fix: string }>

export type ErrorCode = keyof typeof catalog
