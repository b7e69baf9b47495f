import { importedPath, isPublishedSource, isRelative, scanImports } from '../imports.ts'
import { type RepoFile, readRepoFiles } from '../repo.ts'
import type { Check } from './check.ts'

interface Layer {
  /** A folder in src/; `*` stands for any one name, and each such folder is a layer of its own. */
  folder: string
  mayImport: readonly string[] | 'everything' | { everythingExcept: readonly string[] }
}

const inner = ['contracts', 'errors', 'ids', 'encoding', 'clock', 'facts']
/** What runs in the background as well. */
const looping = [...inner, 'loops']

/** The arrows of the architecture. A layer may always import itself; what is not listed is forbidden. */
export const layers: readonly Layer[] = [
  { folder: 'contracts', mayImport: [] },
  { folder: 'errors', mayImport: ['contracts'] },
  { folder: 'ids', mayImport: ['contracts', 'errors'] },
  { folder: 'encoding', mayImport: ['contracts', 'errors'] },
  { folder: 'clock', mayImport: ['contracts', 'errors'] },
  { folder: 'facts', mayImport: ['contracts', 'errors'] },
  { folder: 'loops', mayImport: inner },
  { folder: 'queues', mayImport: inner },
  { folder: 'engine', mayImport: inner },
  { folder: 'consumer', mayImport: [...looping, 'engine'] },
  { folder: 'operations', mayImport: inner },
  { folder: 'letters', mayImport: [...looping, 'engine', 'operations'] },
  { folder: 'intents', mayImport: [...looping, 'engine', 'operations'] },
  { folder: 'reservations', mayImport: [...inner, 'engine', 'intents'] },
  { folder: 'outgoing', mayImport: [...looping, 'queues'] },
  { folder: 'maintenance', mayImport: looping },
  { folder: 'alerts', mayImport: [...looping, 'operations'] },
  { folder: 'metrics', mayImport: [...inner, 'operations'] },
  { folder: 'opentelemetry', mayImport: [...inner, 'operations', 'metrics'] },
  { folder: 'heartbeat', mayImport: looping },
  { folder: 'schedules', mayImport: looping },
  { folder: 'leases', mayImport: inner },
  { folder: 'hints', mayImport: inner },
  { folder: 'patterns', mayImport: inner },
  { folder: 'sharding', mayImport: inner },
  { folder: 'stores/*', mayImport: [...inner, 'stores/sql', 'stores/shared'] },
  { folder: 'transports/*', mayImport: [...inner, 'queues'] },
  { folder: 'testing', mayImport: { everythingExcept: ['dashboard', 'cli'] } },
  { folder: 'dashboard', mayImport: [...inner, 'operations', 'metrics'] },
  {
    folder: 'cli',
    mayImport: [
      ...inner,
      'dashboard',
      'operations',
      'testing',
      // What a user has: the demonstration is a program like theirs.
      'root',
      'transports/queue',
      ...['postgres', 'mysql', 'redis', 'sqlite'].map((name) => `stores/${name}`),
    ],
  },
  { folder: 'app', mayImport: 'everything' },
]

export function findForbiddenImports(files: readonly RepoFile[], table: readonly Layer[] = layers): string[] {
  const problems: string[] = []
  for (const file of files) {
    const from = folderOf(file.path, table)
    if (from === 'unknown') {
      problems.push(`${file.path} belongs to no layer: add its folder to the table in tools/checks/import-arrows.ts`)
      continue
    }
    for (const { specifier, line } of scanImports(file.text)) {
      if (!isRelative(specifier)) continue
      const to = folderOf(importedPath(file, specifier), table)
      if (to !== from && !mayImport(from, to, table))
        problems.push(`${file.path}:${line} ${from} must not import ${to} ('${specifier}')`)
    }
  }
  return problems
}

/** The layer's folder, `root` for a file directly in src/, `outside` past its edge. */
function folderOf(path: string, table: readonly Layer[]): string {
  const [top, ...names] = path.split('/')
  if (top !== 'src') return 'outside'
  if (names.length === 1) return 'root'
  const layer = table.find(({ folder }) => folder.split('/').every((part, i) => part === '*' || part === names[i]))
  if (layer === undefined) return 'unknown'
  return names.slice(0, layer.folder.split('/').length).join('/')
}

function mayImport(from: string, to: string, table: readonly Layer[]): boolean {
  if (to === 'outside' || to === 'unknown') return false
  if (from === 'root') return true
  const allowed = table.find(({ folder }) => folder === from || folder === `${from.split('/')[0]}/*`)?.mayImport ?? []
  if (allowed === 'everything') return true
  if ('everythingExcept' in allowed) return !allowed.everythingExcept.includes(to)
  return allowed.includes(to)
}

export const importArrowsCheck: Check = {
  name: 'import-arrows',
  async run() {
    return { problems: findForbiddenImports(readRepoFiles(isPublishedSource)) }
  },
}
