/**
 * Every code, what it means and what to do about it. Messages and docs/reference/errors.md are made from here.
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
    fix: 'Publish JSON encoded as UTF-8.',
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
    title: 'The body of a message does not fit its schema',
    fix: 'Mend the producer or the schema, then redrive the dead letter.',
  },
  ENVELOPE_INVALID: {
    title: 'The type, the key or the source of a message is not text',
    fix: 'Have the transport give text, or leave out what the message does not have.',
  },
  HEADERS_INVALID: {
    title: 'The headers of a message are not text, or larger than maxHeaderBytes together',
    fix: 'Send few, short, textual headers; put content into the body.',
  },
  KEY_REUSED: {
    title: 'A message has the key of another one but different content',
    fix: "Give each message its own id in the producer; if the content may differ between retries, set fingerprint: 'none' or a function.",
  },
  HANDLER_FAILED: {
    title: 'A handler threw',
    fix: 'See the error history of the parked message; it is tried again until its attempts are used up.',
  },
  HANDLER_TIMEOUT: {
    title: 'A handler took longer than its timeoutMs',
    fix: 'Make it faster, or raise timeoutMs; heed context.signal so that work stops in time.',
  },
  HANDLER_UNKNOWN: {
    title: 'A message waits for a handler that no running app has',
    fix: 'Redrive it when an app has the handler again (with formerly: [name] if it was renamed), or discard it.',
  },
  HOOK_TIMEOUT: {
    title: 'What a handler registered with afterCommit() did not end in time, and is no longer waited for',
    fix: 'Give what it calls a time limit; what must happen belongs into the transaction or into a message of its own.',
  },
  WAITS_FOR_EARLIER_HANDLER: {
    title: 'An earlier handler of the same message has failed, and this one follows it',
    fix: 'It runs as soon as the earlier one has succeeded; register it as independent if it need not wait.',
  },
  TX_CLOSED: {
    title: 'A handler used tx after it had settled',
    fix: 'Await everything the handler starts: a lone promise, the rest of a rejected Promise.all, a timer.',
  },
  TX_NOT_OPEN: {
    title: 'A tx was given that is not inside a transaction, so that what is stored there would stand alone',
    fix: 'Begin the transaction first, and give the very client it was begun on.',
  },
  TX_CONTROL: {
    title:
      'A handler tried to begin, commit or roll back the transaction it was lent, or to change the session it shares',
    fix: 'Leave both to justonce: throw to roll back, return to commit, use SAVEPOINT for a part, and configure connections where they are opened.',
  },
  TX_ENDED: {
    title: 'The transaction was ended from inside the handler, so everything in it was undone',
    fix: 'Find the statement that commits or rolls back (a helper, a trigger, ON CONFLICT ROLLBACK) and remove it.',
  },
  TX_ABORTED: {
    title: 'A handler went on after a database error that had already aborted the transaction',
    fix: 'Let the error out, or wrap the risky statement in a SAVEPOINT of your own.',
  },
  COMMIT_UNKNOWN: {
    title: 'The connection was lost while the commit was under way, so its result is not known',
    fix: 'Nothing: the consumer finds out by claiming again. With once(), call it again with the same key.',
  },
  COMMIT_ROLLED_BACK: {
    title: 'The database answered the commit with a rollback',
    fix: 'An error inside the transaction was swallowed; let it out.',
  },
  STORE_BUSY: {
    title: 'Another transaction held the database for too long',
    fix: 'Keep transactions short, or raise busyTimeoutMs.',
  },
  FILE_REPLACED: {
    title: 'The SQLite file was removed or replaced while it was open',
    fix: 'Stop every process before you restore a backup of the file. Nothing is handled or acknowledged until the file is there; with a connection of your own, open it again.',
  },
  STORE_DENIED: {
    title: 'The database has refused the store its own tables or keys',
    fix: 'Grant the role of the store its rights on them; on Redis, the commands that the error names. If it has them, other code has left a pooled connection with another role (on Postgres, use SET LOCAL ROLE there), with tables locked or in an XA transaction: such connections are thrown away.',
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
    fix: 'Detach them: read and write other files through a connection of their own.',
  },
  ISOLATION_TOO_STRICT: {
    title: 'The transaction that was joined is stricter than READ COMMITTED and met a rival',
    fix: 'Open it as READ COMMITTED, or retry the whole transaction.',
  },
  GUARANTEE_TOO_WEAK: {
    title: 'A handler asks for exactly-once effects from a store that cannot give them',
    fix: "Use an atomic store, or say delivery: 'at-least-once' and make the handler idempotent.",
  },
  SCHEMA_MISSING: {
    title: "The store's tables are not there",
    fix: 'Call store.schema.install(), or run what store.schema.print() prints.',
  },
  SCHEMA_OLD: {
    title: "The store's tables are of an older version than this code",
    fix: 'Call store.schema.install(), or run what store.schema.print() prints.',
  },
  SCHEMA_NEW: {
    title: "The store's tables are of a newer version than this code",
    fix: 'Deploy the newer justonce; this one would not understand the tables.',
  },
  HANDLER_EXISTS: {
    title: 'Two handlers have the same name',
    fix: 'Give each handler a name of its own: it is half of the idempotency key.',
  },
  HANDLER_NAME_INVALID: {
    title: 'A handler name cannot be used as a key',
    fix: 'Use 1 to 100 printable characters.',
  },
  OPTION_UNKNOWN: {
    title: 'An option is not known',
    fix: 'Check the spelling.',
  },
  OPTION_INVALID: {
    title: 'The value of an option makes no sense',
    fix: 'See the reference of that option.',
  },
  POOL_TOO_SMALL: {
    title: 'The connection pool is too small for the concurrency',
    fix: 'Raise the pool size to at least concurrency + 1, or lower concurrency.',
  },
  APP_STARTED: {
    title: 'The app has been started already, so nothing more can be registered',
    fix: 'Register all handlers before app.start().',
  },
  APP_NOT_STARTABLE: {
    title: 'The app has nothing to do, or was stopped before',
    fix: 'Pass transport, from or to to justonce() and register handlers for what comes; make a new app to start again.',
  },
  ROUTE_UNKNOWN: {
    title: 'A message was published whose type leads to no destination, or back to an app that has no handler for it',
    fix: 'Add its type, or prefix.*, to routes, and where it leads to to; what comes back needs a handler: app.on(type, …).',
  },
  OUTGOING_REFUSED: {
    title: 'The broker has refused a published message again and again',
    fix: 'See its error history; redrive the dead letter when the cause is gone, or discard it.',
  },
  CLAIM_HELD: {
    title: 'Another process holds the claim of this message and does not finish',
    fix: 'Nothing: it is tried again later. If it lasts, look for a frozen process.',
  },
  BODY_TOO_DEEP: {
    title: 'The body of a message is nested so deeply that it cannot be looked at',
    fix: 'Send a flatter body; a list of references instead of a tree.',
  },
  BODY_CHECK_FAILED: {
    title: 'A schema threw, or did not answer, instead of saying whether a body fits it',
    fix: 'Mend the schema, then redrive the dead letter.',
  },
  MESSAGES_MAY_BE_DROPPED: {
    title: 'The broker drops messages that it has delivered too often, because it has nowhere else to put them',
    fix: 'Give the queue a dead-letter exchange (deadLetterQueue), or take the delivery limit away; every process that dies with a message counts.',
  },
  WAITS_FOR_BREAKER: {
    title: 'Its handler was failing on everything when the message came, and others needed the room',
    fix: 'It goes on by itself, without a lost attempt, when the breaker closes; see the event breaker-opened for what makes the handler fail.',
  },
  WAITS_FOR_EARLIER_MESSAGE: {
    title: 'An earlier message of the same key has failed, and this one follows it',
    fix: "It runs as soon as the earlier one has succeeded. Where that is a dead letter: redrive or discard it, or set whenDead: 'continue'.",
  },
  MESSAGE_EXPIRED: {
    title: 'A message came after its expiry',
    fix: 'If it is still wanted, publish it again; if this happens often, look at the backlog, expiresAfterMs and the clocks.',
  },
  PROCESS_DIED: {
    title: 'Processes have died while they handled this message, the last of them with nothing else running',
    fix: 'Look for an abort, a loop without an end or an exhausted memory in its handlers, mend it, then redrive the dead letter.',
  },
  BACKOFF_INVALID: {
    title: 'A retry policy threw, or answered with something that is no delay',
    fix: "Let backoff answer milliseconds of at least 0 or 'dead', and classify 'permanent' or 'temporary'; the default backoff was used instead.",
  },
  MESSAGE_NOT_KEPT: {
    title:
      'A message that failed could not be kept as it came: it is too large for the store, or the database cannot hold its texts',
    fix: 'Read the error history for both reasons. Where the body was too large only its size and hash are kept: have the producer send it again, smaller. Otherwise all of it is in the letter: redrive it when the database can hold it.',
  },
  ORDER_NOT_KEPT: {
    title: 'A handler wants messages of a key in order, but a transport does not deliver them in order',
    fix: "Configure the transport so that it does (its page says how), or drop ordered: 'key'.",
  },
  TOO_OLD_TO_KNOW: {
    title: 'A message is so old that its record may have been removed, so nobody knows whether it was processed',
    fix: 'Look whether its effect is there; redrive the dead letter if it is not, discard it if it is. Raise retention.days if this happens often.',
  },
  ID_FROM_THE_FUTURE: {
    title: 'The id of a message says that it was made in the future',
    fix: 'Mend the clock of the producer; the message waits until the time it names.',
  },
  BORN_CHANGED: {
    title: 'The time of messages is read from their ids in another way than when their records were made',
    fix: 'Keep the scheme; or give the handler a new name and list the old one in formerly: then both are looked at.',
  },
  CLOCK_JUMPED: {
    title: "The database's clock has moved further than it can have",
    fix: 'Set the clock right, or wait: after a day that it goes on from there it is believed. If the horizon was raised too far, lower it with justonce retention repair-horizon.',
  },
  RETENTION_TOO_SHORT: {
    title: 'Records are removed before the transport has stopped redelivering their messages',
    fix: 'Raise retention.days, or lower how long the broker keeps and redelivers messages.',
  },
  RETENTION_WITHOUT_TIME: {
    title: 'Old records are to be removed, but no handler has ids that say when they were made',
    fix: "Say ids: 'uuidv7', 'ulid' or 'ksuid' (or born on the handler); or accept re-runs with retention.timeless.",
  },
  PARTLY_APPLIED: {
    title: 'A command of the handler failed after others had been applied, and Redis cannot undo those',
    fix: 'Look at what was applied, mend it by hand, then discard the dead letter. It is never retried by itself.',
  },
  LEASE_LOST: {
    title: 'The lease was lost while the work was running, so somebody else may have begun',
    fix: 'Heed the signal, make the work shorter or leaseMs longer, and give the fence to whatever the work writes to.',
  },
  SOURCE_REPLACED: {
    title: 'The topic was deleted and made again, or moved, so that stored positions mean nothing in it',
    fix: 'Decide whether to begin anew: remove the stored positions of this group and topic. Until then it is not read.',
  },
  POSITIONS_NEEDED: {
    title: 'A transport is to recognise copies by their position, but it or the store cannot',
    fix: "Use dedup: 'id', or a transport with exclusive positions and a store that keeps them and has parts.",
  },
  BROKER_UNREACHABLE: {
    title: 'The broker cannot be reached',
    fix: 'Check the address and whether it is running; the cause says what the client saw.',
  },
  BROKER_REFUSED: {
    title: 'The broker answers, but refuses us: wrong credentials, missing rights, or a virtual host that is not there',
    fix: 'Check the user, its password and its permissions, and the virtual host where there are such; trying again does not help.',
  },
  CONSUMER_TIMEOUT: {
    title: 'The broker closed the channel because a message was not acknowledged within its consumer timeout',
    fix: 'Make handlers faster, take fewer messages at a time, or raise consumer_timeout of the broker above the longest time a message may wait and run.',
  },
  PARTITIONS_CHANGED: {
    title: 'A topic has another number of partitions than when the group was joined',
    fix: 'Nothing: the group is joined again and reads all of them. Messages of one key may be in two partitions now.',
  },
  TOPIC_REPLACED: {
    title: 'A topic was deleted and made again; it is read from its start',
    fix: 'Nothing: it is read from its start. What had not been read of the old one is gone.',
  },
  TOPIC_MISSING: {
    title: 'One of the topics is not there; the others are read',
    fix: 'Create it, or remove it from topics. It is read as soon as it is there.',
  },
  PARTITION_UNREADABLE: {
    title: 'What the broker holds of a partition cannot be read, or is not given out; the others are read',
    fix: 'Look at the log of the broker and at its disk. If a batch of records is spoilt, remove it with kafka-delete-records, or set the group past it.',
  },
  POSITION_LOST: {
    title: 'The topic does not hold the position at which reading was to go on, so messages may have been missed',
    fix: 'Raise retention.ms of the topic, or consume faster; the message says where reading goes on.',
  },
  BROKER_GAVE_UP: {
    title: 'The broker has put a message into its own dead-letter queue',
    fix: 'Look at the reason in its headers and at the delivery limit of the queue, then redrive the dead letter.',
  },
  BROKER_SETUP: {
    title: 'Something that the transport needs does not exist at the broker, or is set up differently',
    fix: "Create it, let the transport declare it, or change the option; the transport's page says what it needs.",
  },
  ARGUMENT_INVALID: {
    title: 'An argument of a command is not a text, an exact number, a bigint or bytes',
    fix: 'Turn it into text yourself, so that what is stored is what you mean.',
  },
  STORE_CANNOT: {
    title: 'The store cannot do what was asked of it',
    fix: "Use a store that can; each driver's page says what it lacks.",
  },
  PUBLISH_INVALID: {
    title: 'The body of a message to be published does not fit the schema of its type',
    fix: 'Correct what is published, or the schema in messages(). In a handler this is a failure like any other, and nothing it did is kept.',
  },
  PUBLISH_REFUSED: {
    title: 'The broker refused a message',
    fix: "Look at the cause; a transport's page lists what it can refuse.",
  },
  LETTERS_NONE_FOUND: {
    title: 'No dead letter fits what was selected',
    fix: 'List the dead letters to see which there are: it may have been redriven or discarded meanwhile.',
  },
  LETTER_NOT_DEAD: {
    title: 'A parked message is not a dead letter any more: it waits for an attempt, or has one now',
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
    fix: 'See redrives() for those there are.',
  },
  EDIT_INVALID: {
    title: 'A dead letter cannot be redriven with the body that was given',
    fix: 'Select one letter by handler and key, and give a body that its handler can take; nothing was changed.',
  },
  RECORD_PARKED: {
    title: 'A record cannot be forgotten while a parked message owns it',
    fix: 'Redrive or discard the parked message instead.',
  },
  RECORD_UNREADABLE: {
    title: 'What the inbox holds for a message cannot be read, so nobody knows whether it was handled',
    fix: 'Find out what has written to the key that the error names. Put the record back from a backup, or remove the key if the message may run.',
  },
  STORE_UNREACHABLE: {
    title: 'The store cannot be reached, or cannot do any work now',
    fix: 'Nothing is handled or acknowledged until it is back; look at the server and the network.',
  },
  CLAIM_LOST: {
    title: 'The lease of a claim ran out before its transaction could commit, so nothing of it was applied',
    fix: 'Nothing: it is tried again. If it happens often, look for frozen processes or raise leaseMs.',
  },
  RECORDS_MAY_BE_EVICTED: {
    title: 'The server may throw records away when its memory is full, and their messages would run again',
    fix: 'Set maxmemory-policy noeviction on the Redis that keeps records.',
  },
  RECORDS_NOT_DURABLE: {
    title: 'The server keeps records in memory only, and forgets them when it restarts',
    fix: 'Set appendonly yes on the Redis that keeps records.',
  },
  SERVER_NOT_CHECKED: {
    title: 'The server does not tell how it is set up',
    fix: 'See to it that maxmemory-policy is noeviction and appendonly is yes.',
  },
  TABLES_NOT_TRANSACTIONAL: {
    title: 'There are tables whose storage engine knows no transactions: what a failed handler writes there stays',
    fix: 'ALTER TABLE … ENGINE = InnoDB for every table that handlers write to, and default_storage_engine = InnoDB.',
  },
  ENCODING_TOO_NARROW: {
    title: 'The encoding of the database does not hold all texts that a key can be',
    fix: 'Keep the tables of the store in a database with ENCODING UTF8, or see to it that keys are ASCII.',
  },
  PARTITION_MISSING: {
    title: 'The records of a day have no partition, and the role of the store may not make one',
    fix: 'As the owner of the tables run npx justonce migrate --store <file> --days-from <that day>. Until then the messages of that day are held, and only they; nothing of them is lost.',
  },
} as const satisfies Record<string, { title: string; fix: string }>

export type ErrorCode = keyof typeof catalog
