import { readFileSync, writeFileSync } from 'node:fs'
import { type OptionDescription, optionsIn } from './option-interfaces.ts'
import { fromRoot } from './repo.ts'

export const optionsPagePath = 'docs/reference/options.md'
const examplesPath = 'tools/option-examples.md'

interface Section {
  readonly title: string
  /** File and interfaces, the inherited ones last. */
  readonly from: readonly (readonly [file: string, ...interfaces: string[]])[]
  readonly more?: string
}

const app = 'src/app'
const sections: readonly Section[] = [
  {
    title: '`justonce()`',
    from: [
      [`${app}/app-options.ts`, 'AppOptions'],
      [`${app}/ways.ts`, 'WayOptions'],
    ],
    more: 'See [running](../guides/running.md), [publishing](../guides/outbox.md) and [codecs](../guides/codecs.md).',
  },
  { title: '`inFlight`', from: [[`${app}/in-flight-options.ts`, 'InFlightOptions']] },
  { title: '`heartbeat`', from: [[`${app}/heartbeat-options.ts`, 'HeartbeatOptions']] },
  {
    title: '`alerts`',
    from: [['src/alerts/rule.ts', 'AlertOptions']],
    more: 'See [monitoring](../operations/monitoring.md).',
  },
  {
    title: '`retention`',
    from: [[`${app}/retention-options.ts`, 'RetentionOptions']],
    more: 'See [retention](../guides/retention.md).',
  },
  {
    title: '`app.on()` and `app.onBatch()`',
    from: [[`${app}/handler-options.ts`, 'HandlerOptions']],
    more: 'A text instead of an object is the name. See [failures](../guides/failures.md).',
  },
  { title: '`retry`', from: [[`${app}/handler-options.ts`, 'RetryOptions']] },
  { title: '`ordered`', from: [[`${app}/handler-options.ts`, 'OrderOptions']] },
  { title: '`expires`', from: [[`${app}/handler-options.ts`, 'ExpiryOptions']] },
  {
    title: '`publish()`',
    from: [['src/engine/handler.ts', 'PublishOptions']],
    more: '`app.publish()` also takes `tx`, your own transaction. The messages of `publishAll()` have these options, too, beside `type` and `body`. See [publishing](../guides/outbox.md).',
  },
  {
    title: '`app.schedule()`',
    from: [['src/schedules/schedule.ts', 'ScheduleOptions']],
    more: 'See [schedules](../guides/schedules.md).',
  },
  {
    title: '`app.effect()`',
    from: [['src/intents/effect.ts', 'EffectOptions']],
    more: 'See [calls to the outside](../guides/external-calls.md).',
  },
  {
    title: '`httpEffect()`',
    from: [['src/intents/http-effect.ts', 'HttpEffectOptions']],
    more: 'And those of `app.effect()`, without `run`.',
  },
  {
    title: '`intend()`',
    from: [['src/engine/intending/new-intent.ts', 'IntendOptions']],
    more: '`app.intend()` also takes `tx`, your own transaction.',
  },
  { title: '`once()`', from: [['src/engine/once/once.ts', 'OnceKey']], more: 'See [once](../guides/once.md).' },
  { title: '`withLease()`', from: [['src/leases/with-lease.ts', 'LeaseOptions']] },
  {
    title: '`postgresStore()`',
    from: [
      ['src/stores/postgres/postgres-store.ts', 'PgStoreOptions', 'PostgresJsStoreOptions', 'PostgresStoreOptions'],
    ],
    more: 'One of `pool` and `sql`. See [Postgres](../drivers/postgres.md).',
  },
  {
    title: '`mysqlStore()`',
    from: [['src/stores/mysql/mysql-store.ts', 'MysqlStoreOptions']],
    more: 'See [MySQL](../drivers/mysql.md).',
  },
  {
    title: '`sqliteStore()`',
    from: [
      ['src/stores/sqlite/options.ts', 'SqliteGivenOptions', 'SqliteOpenOptions', 'SqlitePathOptions', 'SqliteTuning'],
    ],
    more: 'Either `database` or `path`. See [SQLite](../drivers/sqlite.md).',
  },
  {
    title: '`redisStore()`',
    from: [['src/stores/redis/options.ts', 'IsolatedRedisOptions', 'LeaseRedisOptions', 'CommonOptions']],
    more: '`recordTtlMs` belongs to `isolated`, `keepMs` to `lease`. See [Redis](../drivers/redis.md).',
  },
  {
    title: '`hotSide()`',
    from: [['src/hints/hot-side.ts', 'HotSideOptions']],
    more: 'See [hints](../drivers/hints.md).',
  },
  {
    title: '`rabbitmqTransport()`',
    from: [['src/transports/rabbitmq/options.ts', 'RabbitmqTransportOptions', 'WayToConnect']],
    more: 'See [RabbitMQ](../drivers/rabbitmq.md), also for `rabbitmqPublisher()`.',
  },
  {
    title: '`kafkaTransport()`',
    from: [['src/transports/kafka/kafka-options.ts', 'KafkaTransportOptions', 'KafkaClientSettings']],
    more: 'See [Kafka](../drivers/kafka.md), also for `kafkaPublisher()`.',
  },
  {
    title: '`queueTransport()`',
    from: [['src/transports/queue/queue-transport.ts', 'QueueTransportOptions']],
    more: 'See [the database queue](../drivers/queue.md).',
  },
  {
    title: '`webhookTransport()` and `webhookIntake()`',
    from: [
      ['src/transports/webhooks/webhook-transport.ts', 'WebhookTransportOptions'],
      ['src/transports/webhooks/webhook-intake.ts', 'WebhookIntakeOptions'],
      ['src/transports/webhooks/webhook-options.ts', 'ReceivingOptions'],
    ],
    more: '`into` belongs to `webhookIntake()`. See [webhooks](../drivers/webhooks.md).',
  },
  {
    title: '`dashboard()`',
    from: [['src/dashboard/options.ts', 'DashboardOptions']],
    more: 'See [the dashboard](../operations/dashboard.md).',
  },
  {
    title: '`serveDashboard()`',
    from: [['src/dashboard/serve.ts', 'ServeOptions']],
    more: 'And `redact` and `secretHeaders`, as above.',
  },
  {
    title: '`memoryTransport()`',
    from: [['src/transports/memory/memory-transport.ts', 'MemoryTransportOptions']],
    more: 'See [the memory transport](../drivers/memory-transport.md).',
  },
]

export function renderOptionsPage(read = (path: string) => readFileSync(fromRoot(path), 'utf8')): string {
  const examples = read(examplesPath)
  const rendered = sections.map(({ title, from, more }) => {
    const all = from.flatMap(([file, ...names]) => names.flatMap((name) => described(read(file), name, file)))
    const options = all.filter(({ name }, at) => all.findIndex((each) => each.name === name) === at)
    return [
      `## ${title}`,
      '',
      ...(more === undefined ? [] : [more, '']),
      ...table(options),
      '',
      ...exampleOf(title, examples),
      '',
    ].join('\n')
  })
  return [
    '# Options\n',
    '<!-- Generated by tools/generate-options-page.ts from the comments of the interfaces; edit those, not this page. -->\n',
    'An unknown option, or a value that makes no sense, is refused with `OPTION_INVALID`. Names in bold are required. What names no default does nothing until it is given.\n',
    ...rendered,
  ].join('\n')
}

function described(source: string, name: string, file: string): readonly OptionDescription[] {
  const options = optionsIn(source, name)
  const silent = options.filter(({ text }) => text === undefined).map((option) => option.name)
  if (silent.length > 0) throw new Error(`${file}: ${name} does not say what ${silent.join(', ')} means.`)
  return options
}

/** Every section shows its options in use. */
function exampleOf(title: string, examples: string): string[] {
  const at = examples.indexOf(`\n## ${title}\n`)
  const block = at < 0 ? undefined : /```ts\n[\s\S]*?\n```/.exec(examples.slice(at))?.[0]
  if (block === undefined) throw new Error(`${examplesPath} has no example for ${title}.`)
  return [block]
}

function table(options: readonly OptionDescription[]): string[] {
  const rows = options.map(
    ({ name, required, type, text = '' }) =>
      `| ${required ? `**\`${name}\`**` : `\`${name}\``} | \`${cell(type)}\` | ${cell(text)} |`,
  )
  return ['| option | type | what it is |', '|---|---|---|', ...rows]
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|')
}

if (import.meta.main) writeFileSync(fromRoot(optionsPagePath), renderOptionsPage())
