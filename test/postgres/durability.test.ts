import { describe, expect, onTestFinished, test } from 'vitest'
import { justonce } from '../../src/index.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { memoryTransport } from '../../src/transports/memory/index.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'
import { newPool } from './pg-context.ts'

const postgres = await requireServer('postgres')

/** What an app says when it starts on this database. */
async function warningsAtStart(url: string): Promise<readonly string[]> {
  const pool = newPool({ url })
  const app = justonce({ store: postgresStore({ pool, listen: false }), transport: memoryTransport() })
  app.on('note.created', 'tag-note', () => {})
  const heard: string[] = []
  app.events.listen((event) => {
    if (event.kind === 'warning') heard.push(`${event.code} ${event.message}`)
  })
  onTestFinished(() => pool.end())
  await app.start()
  await app.stop()
  return heard
}

describe.skipIf(!postgres.available)('commits that a crash of the server may lose', () => {
  test('are warned of once at the start, also if only this database or role is set up like that', async () => {
    const url = await createDatabase(postgres.url)
    expect(await warningsAtStart(url)).toEqual([])
    const admin = newPool({ url })
    await admin.query(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET synchronous_commit = off`)
    await admin.end()
    expect(await warningsAtStart(url)).toEqual([
      expect.stringMatching(/^COMMITS_NOT_DURABLE These are off: synchronous_commit\. Set /),
    ])
  })
})
