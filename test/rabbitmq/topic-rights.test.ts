import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as client from 'amqplib'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { outgoing } from '../../src/testing/reading.ts'
import { rabbitmqTransport } from '../../src/transports/rabbitmq/index.ts'
import { type RabbitmqServer, startRabbitmq } from '../servers/rabbitmq.ts'
import { requireBinaries } from '../servers/require.ts'
import { queueName } from './connect.ts'

const rabbitmq = await requireBinaries('rabbitmq')

const vhost = '/'
const user = 'guest'
const definitions = {
  vhosts: [{ name: vhost }],
  users: [{ name: user, password: user, tags: 'administrator' }],
  permissions: [{ user, vhost, configure: '.*', write: '.*', read: '.*' }],
  topic_permissions: [{ user, vhost, exchange: 'amq.topic', write: '^allowed', read: '.*' }],
}

describe.skipIf(!rabbitmq.available)('a user who may not write every topic', () => {
  let server: RabbitmqServer
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'justonce-rabbitmq-'))
    const path = join(folder, 'definitions.json')
    await writeFile(path, JSON.stringify(definitions))
    // The broker runs as a user of its own.
    await chmod(folder, 0o755)
    server = await startRabbitmq({ settings: { load_definitions: path } })
  }, 120_000)
  afterAll(async () => {
    await server?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  test('is refused those messages, and the others are sent', async () => {
    const transport = rabbitmqTransport({
      client,
      url: server.url,
      queue: queueName(),
      declare: { type: 'classic', bindings: [{ exchange: 'amq.topic', routingKey: '#' }] },
      publishTo: { exchange: 'amq.topic' },
    })
    onTestFinished(() => transport.close())
    const results = await transport.publish([
      outgoing('m1', { type: 'allowed.a' }),
      outgoing('m2', { type: 'forbidden' }),
      outgoing('m3', { type: 'allowed.b' }),
    ])
    expect(results).toMatchObject([
      { kind: 'sent' },
      { kind: 'refused', error: { code: 'PUBLISH_REFUSED', message: expect.stringContaining('forbidden') } },
      { kind: 'sent' },
    ])
  }, 60_000)
})
