import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { BankPlace } from './bank.ts'
import type { BrokerPlace } from './broker.ts'
import { createSchema, dropSchema } from './postgres-schema.ts'

/** All that a worker process needs to know. */
export interface SidePlace {
  readonly bank: BankPlace
  readonly broker: BrokerPlace
}

/** Where the two sides of one run live. */
export interface Places {
  readonly justonce: BankPlace
  readonly naive: BankPlace
  /** A folder that restarted workers load their compiled code from. */
  readonly compileCache: string
  /** Removes everything, or everything but the databases. */
  remove(keepDatabases: boolean): Promise<void>
}

export async function preparePlaces(postgresUrl: string | undefined): Promise<Places> {
  const folder = chooseFolder()
  const compileCache = join(folder, 'compiled')
  if (postgresUrl === undefined) {
    return {
      justonce: { kind: 'sqlite', path: join(folder, 'justonce.db') },
      naive: { kind: 'sqlite', path: join(folder, 'naive.db') },
      compileCache,
      remove: async (keepDatabases) => rmSync(keepDatabases ? compileCache : folder, { recursive: true, force: true }),
    }
  }
  const run = `justonce_demo_${randomBytes(4).toString('hex')}`
  const inSchema = (side: string) => ({ kind: 'postgres' as const, url: postgresUrl, schema: `${run}_${side}` })
  const [justonce, naive] = [inSchema('justonce'), inSchema('naive')]
  const remove = async (keepDatabases: boolean): Promise<void> => {
    rmSync(folder, { recursive: true, force: true })
    if (!keepDatabases) for (const place of [justonce, naive]) await dropSchema(place)
  }
  try {
    for (const place of [justonce, naive]) await createSchema(place)
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw error
  }
  return { justonce, naive, compileCache, remove }
}

export function describePlace(place: BankPlace): string {
  return place.kind === 'sqlite' ? place.path : `schema ${place.schema}`
}

const memoryFolder = '/dev/shm'

/**
 * The naive side commits twice for each delivery, which takes minutes on a disk that is slow to sync. A database in
 * memory will do there: it survives the death of every process as well, and that is all that happens to it here.
 * A TMPDIR that is set has chosen for us.
 */
function chooseFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'justonce-demo-'))
  const isDecided = process.env.TMPDIR !== undefined || !existsSync(memoryFolder)
  if (isDecided || commitMs(join(folder, 'trial.db')) < 0.5) return folder
  try {
    const inMemory = mkdtempSync(join(memoryFolder, 'justonce-demo-'))
    rmSync(folder, { recursive: true, force: true })
    return inMemory
  } catch {
    return folder
  }
}

function commitMs(path: string): number {
  const database = new DatabaseSync(path)
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE trial (n integer)')
  const times = Array.from({ length: 15 }, () => {
    const begun = performance.now()
    database.exec('INSERT INTO trial VALUES (1)')
    return performance.now() - begun
  })
  database.close()
  for (const end of ['', '-wal', '-shm']) rmSync(path + end, { force: true })
  return times.sort((a, b) => a - b)[7] as number
}
