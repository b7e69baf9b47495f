export interface Guide {
  readonly title: string
  /** From a page of the reference. */
  readonly path: string
}

const guides: readonly [title: string, path: string, names: readonly string[]][] = [
  ['running an app', 'guides/running.md', ['justonce', 'App', 'AppOptions', 'Health', 'Around']],
  ['`once()`', 'guides/once.md', ['once', 'OnceKey', 'OnceOutcome']],
  ['which messages are the same', 'guides/identity.md', ['byContent', 'byPosition', 'uuidv7', 'derivedId', 'IdScheme']],
  ['publishing', 'guides/outbox.md', ['Publish', 'PublishAll', 'PublishOptions', 'MessageToPublish']],
  [
    'calls to the outside',
    'guides/external-calls.md',
    ['Intend', 'IntendOptions', 'EffectOptions', 'effects', 'httpEffect', 'DidNotHappen'],
  ],
  [
    'when handlers fail',
    'guides/failures.md',
    ['HandlerOptions', 'RetryOptions', 'PermanentError', 'RetryLater', 'exponential', 'fixed'],
  ],
  ['retention', 'guides/retention.md', ['RetentionOptions']],
  ['codecs', 'guides/codecs.md', ['Codec', 'CodecOptions']],
  ['schedules', 'guides/schedules.md', ['ScheduleOptions']],
  ['reservations', 'guides/tcc.md', ['participantIn', 'ReservationOptions', 'Participant']],
  [
    'patterns',
    'guides/patterns.md',
    ['insertOnce', 'transition', 'stateMachine', 'upsertLatest', 'updateVersioned', 'applyEntry', 'transfer'],
  ],
  ['prove a handler', 'guides/prove.md', ['prove', 'ProveOptions']],
  ['events', 'reference/events.md', ['JustonceEvent', 'Events', 'logEvents', 'Logger']],
  ['errors', 'reference/errors.md', ['JustonceError', 'isJustonceError', 'ErrorCode']],
  ['monitoring', 'operations/monitoring.md', ['AlertOptions', 'prometheusText', 'countEvents', 'openTelemetry']],
  ['the dashboard', 'operations/dashboard.md', ['dashboard', 'serveDashboard']],
  ['Postgres', 'drivers/postgres.md', ['postgresStore']],
  ['MySQL and MariaDB', 'drivers/mysql.md', ['mysqlStore']],
  ['SQLite', 'drivers/sqlite.md', ['sqliteStore']],
  ['Redis', 'drivers/redis.md', ['redisStore']],
  ['the hot side', 'drivers/hints.md', ['hotSide']],
  ['the database as a queue', 'drivers/queue.md', ['queueTransport']],
  ['RabbitMQ', 'drivers/rabbitmq.md', ['rabbitmqTransport', 'rabbitmqPublisher']],
  ['Kafka', 'drivers/kafka.md', ['kafkaTransport', 'kafkaPublisher']],
  [
    'webhooks',
    'drivers/webhooks.md',
    ['webhookTransport', 'webhookIntake', 'stripeSignature', 'githubSignature', 'standardWebhooks'],
  ],
  ['the memory store', 'drivers/memory.md', ['memoryStore']],
  ['the memory transport', 'drivers/memory-transport.md', ['memoryTransport']],
  ['write your own store', 'drivers/write-your-own-store.md', ['Store', 'storeCases', 'runStoreCase']],
  [
    'write your own transport',
    'drivers/write-your-own.md',
    ['Transport', 'Subscriber', 'Publisher', 'transportCases', 'runTransportCase'],
  ],
]

const byName = new Map(
  guides.flatMap(([title, path, names]) => names.map((name) => [name, { title, path: `../../${path}` }])),
)

/** The page that explains how a name is used, if there is one. */
export function guideOf(name: string): Guide | undefined {
  return byName.get(name)
}
