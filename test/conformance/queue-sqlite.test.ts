import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import type { TransportCaseContext } from '../../src/testing/index.ts'
import { bindTransportCases } from './bind-transport-cases.ts'
import { queueContext } from './queue-context.ts'

async function open(): Promise<TransportCaseContext> {
  const folder = await mkdtemp(join(tmpdir(), 'justonce-queue-'))
  const openStore = () => sqliteStore({ path: join(folder, 'app.db') })
  const installer = openStore()
  await installer.schema.install()
  await installer.close()
  return queueContext({
    openStore: async () => openStore(),
    remove: () => rm(folder, { recursive: true, force: true }),
  })
}

bindTransportCases('queue on sqlite', { open })
