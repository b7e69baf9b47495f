import { DatabaseSync } from 'node:sqlite'
import * as kafka from '@platformatic/kafka'
import { type JustonceEvent, justonce } from '../../src/index.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { type KafkaTransportOptions, kafkaTransport } from '../../src/transports/kafka/index.ts'

/** What can be handed to a process of its own. */
export interface ConsumingConfig {
  readonly path: string
  readonly bootstrapServers: string
  readonly topic: string
  readonly group: string
  readonly transport?: Partial<Omit<KafkaTransportOptions, 'kafka' | 'onError'>>
  /** The id of a message that kills the process which handles it. */
  readonly poison?: string
}

export interface ConsumingApp {
  readonly events: JustonceEvent[]
  readonly errors: unknown[]
  stop(): Promise<void>
}

/** The real engine with a handler that adds one row for each run: a second effect would be a second row. */
export async function startConsumingApp(config: ConsumingConfig): Promise<ConsumingApp> {
  const { path, bootstrapServers, topic, group } = config
  const errors: unknown[] = []
  const store = sqliteStore({ path })
  const transport = kafkaTransport({
    kafka,
    bootstrapServers,
    topics: [topic],
    group,
    handOverMs: 5_000,
    ...config.transport,
    onError: (error) => errors.push(error),
  })
  const app = justonce({ store, transport })
  app.on('note.created', 'count', (message, { tx }) => {
    if (message.id === config.poison) process.kill(process.pid, 'SIGKILL')
    tx.prepare('INSERT INTO effects (id) VALUES (?)').run(message.id)
  })
  const events: JustonceEvent[] = []
  app.events.listen((event) => events.push(event))
  await app.start()
  return {
    events,
    errors,
    async stop() {
      await app.stop()
      await store.close()
    },
  }
}

/** The tables of the store and of the handler. */
export async function createEffects(path: string): Promise<void> {
  const store = sqliteStore({ path })
  await store.schema.install()
  await store.close()
  withDatabase(path, (database) => database.exec('CREATE TABLE effects (id TEXT)'))
}

/** Each id with the number of its effects. */
export function countEffects(path: string): Map<string, number> {
  const select = 'SELECT id, count(*) AS runs FROM effects GROUP BY id'
  const rows = withDatabase(path, (database) => database.prepare(select).all())
  return new Map(rows.map(({ id, runs }) => [String(id), Number(runs)]))
}

function withDatabase<T>(path: string, task: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(path, { timeout: 5_000 })
  try {
    return task(database)
  } finally {
    database.close()
  }
}
