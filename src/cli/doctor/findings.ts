import type { Store, TransportNotice } from '../../contracts/index.ts'
import { catalog, type ErrorCode } from '../../errors/index.ts'
import type { HandlerView, Overview, ProcessView } from '../../operations/index.ts'
import { problemOf } from '../migrate/index.ts'
import { shellWord } from '../output/shell-word.ts'
import { counted, spanOf } from '../output/wording.ts'

/** What one check found. Without a fix there is nothing to do. */
export interface Finding {
  readonly level: 'ok' | 'notice' | 'problem'
  readonly check: string
  readonly found: string
  readonly fix?: string | undefined
}

/** What running processes could not read from in the last minute: each thing once, whoever says it. */
export function troubleFindings(processes: readonly ProcessView[]): Finding[] {
  const said = new Set(
    processes.flatMap(({ trouble = [] }) =>
      trouble.map(({ name, message }) => `${name} could not be read in the last minute: ${message}`),
    ),
  )
  return [...said].map((found) => ({
    level: 'problem',
    check: 'sources',
    found,
    fix: 'Nothing arrives from there: see whether it runs, whether what is read exists, and what the user may do.',
  }))
}

/** More than a network and a busy process explain. */
const mostSkewMs = 5_000
const longWaitMs = 3_600_000

export async function schemaFindings(store: Store): Promise<Finding[]> {
  const problem = await problemOf(store)
  if (problem === undefined) return [{ level: 'ok', check: 'tables', found: 'up to date' }]
  return [
    {
      level: 'problem',
      check: 'tables',
      found: problem,
      fix: 'Run justonce migrate with a role that may change tables.',
    },
  ]
}

/** A finding from a code of the catalogue, whose message ends with the fix. */
function findingOf({ code, message }: TransportNotice): Finding {
  const { fix } = catalog[code as ErrorCode] ?? { fix: undefined }
  const found = fix === undefined ? message : message.replace(fix, '').trim()
  return {
    level: harmless.has(code) ? 'notice' : 'problem',
    check: code,
    found,
    fix: fix ?? 'See what the message says.',
  }
}

/** Nothing is wrong yet: it depends on what else is done with the database, or cannot be found out. */
const harmless: ReadonlySet<string> = new Set(['ISOLATION_DEFAULT_STRICT', 'SERVER_NOT_CHECKED', 'BROKER_NOT_CHECKED'])

/** What the store knows of its database: settings that lose what was committed, tables without transactions, missing rights. */
export async function databaseFindings(store: Store): Promise<Finding[]> {
  const warnings = (await store.warnings?.({ thorough: true })) ?? []
  if (warnings.length === 0)
    return [{ level: 'ok', check: 'database', found: 'nothing that the store can see is wrong' }]
  return warnings.map(findingOf)
}

/** What running processes were told by their brokers, or have warned of: each thing once, whoever says it. */
export function reportedFindings(processes: readonly ProcessView[], known: readonly Finding[]): Finding[] {
  const told = processes.flatMap(({ brokers = [], warnings = [] }) => [
    ...brokers.flatMap((broker) => broker.warnings),
    ...warnings,
  ])
  const seen = new Set(known.map(({ check, found }) => `${check} ${found}`))
  const findings = told.map(findingOf).filter(({ check, found }) => {
    const isNew = !seen.has(`${check} ${found}`)
    seen.add(`${check} ${found}`)
    return isNew
  })
  const asked = [...new Set(processes.flatMap(({ brokers = [] }) => brokers.map(({ name }) => name)))]
  const isBroker = (check: string): boolean => check.startsWith('BROKER_') || check === 'MESSAGES_MAY_BE_DROPPED'
  if (asked.length > 0 && !findings.some(({ check }) => isBroker(check)))
    findings.push({ level: 'ok', check: 'brokers', found: `nothing is wrong with ${asked.join(', ')}` })
  return findings
}

/** Retries, relay, heartbeat and maintenance need connections beside the batches. */
const forOthers = 2

export function poolFindings(processes: readonly ProcessView[]): Finding[] {
  const tight = processes.flatMap(({ host, pid, pool }) => {
    if (pool === undefined || pool.connections === 1 || pool.connections - pool.batches >= forOthers) return []
    return [`${host}/${pid} has ${pool.connections} connections for ${pool.batches} batches at once`]
  })
  return tight.map((found) => ({
    level: 'problem',
    check: 'pool',
    found: `${found}: retries, relay and heartbeats have to wait for them`,
    fix: 'Give the pool more connections, or lower concurrency.',
  }))
}

export function processFindings(processes: readonly ProcessView[]): Finding[] {
  if (processes.length === 0)
    return [
      {
        level: 'notice',
        check: 'processes',
        found: 'none is running, or they have heartbeat: false',
        fix: 'Start one.',
      },
    ]
  const findings: Finding[] = []
  for (const { host, pid, clockAheadMs } of processes) {
    if (Math.abs(clockAheadMs) <= mostSkewMs) continue
    const found = `the clock of ${host}/${pid} is ${spanOf(clockAheadMs)} ${clockAheadMs > 0 ? 'ahead of' : 'behind'} the database's`
    findings.push({
      level: 'problem',
      check: 'clocks',
      found,
      fix: 'Let both hosts keep their time by NTP. Ids and expiry depend on it.',
    })
  }
  if (findings.length === 0)
    findings.push({ level: 'ok', check: 'clocks', found: 'all processes agree with the database' })
  const versions = [...new Set(processes.map(({ version }) => version))]
  if (versions.length > 1)
    findings.push({
      level: 'notice',
      check: 'versions',
      found: `processes have ${versions.join(' and ')}`,
      fix: 'Finish the deploy.',
    })
  return findings
}

export function handlerFindings(handlers: readonly HandlerView[], alive: readonly ProcessView[]): Finding[] {
  const findings: Finding[] = []
  const appOf = new Map(alive.map(({ id, app }) => [id, app]))
  for (const { name, types, paused, processes, waiting } of handlers) {
    const apps = new Set(processes.flatMap(({ process }) => appOf.get(process) ?? []))
    if (apps.size > 1)
      findings.push({
        level: 'problem',
        check: 'handler names',
        found: `${name} is a handler of ${[...apps].join(' and ')}: what one of them has processed is a duplicate for the other`,
        fix: 'Rename one of them, with formerly, or give each app a prefix of its own.',
      })
    if (types.length > 1)
      findings.push({
        level: 'problem',
        check: 'handler names',
        found: `${name} handles ${types.join(' and ')} in different processes: they share records`,
        fix: 'Rename one of them, with formerly.',
      })
    if (paused !== undefined)
      findings.push({
        level: 'notice',
        check: 'pauses',
        found: `${name} is paused by ${paused.by}`,
        fix: `justonce handlers resume ${shellWord(name)}`,
      })
    const open = processes.filter(({ breaker }) => breaker === 'open')
    if (open.length > 0)
      findings.push({
        level: 'problem',
        check: 'breakers',
        found: `${name} fails on every message in ${counted(open.length, 'process', 'processes')}`,
        fix: `justonce waiting list --handler=${shellWord(name)} shows the errors.`,
      })
    if (processes.length === 0 && waiting > 0)
      findings.push({
        level: 'problem',
        check: 'handlers',
        found: `${counted(waiting, 'message waits', 'messages wait')} for ${name}, which no process has`,
        fix: 'Start an app that has it, or rename with formerly.',
      })
  }
  return findings.length > 0 ? findings : [{ level: 'ok', check: 'handlers', found: 'none is stopped' }]
}

export function backlogFindings({ parked, outgoing, intents }: Overview): Finding[] {
  const findings: Finding[] = []
  if (parked.dead > 0)
    findings.push({
      level: 'notice',
      check: 'dead letters',
      found: counted(parked.dead, 'message'),
      fix: 'justonce dead-letters groups',
    })
  if (intents.dead > 0)
    findings.push({
      level: 'problem',
      check: 'intents',
      found: `${counted(intents.dead, 'call waits', 'calls wait')} for a person`,
      fix: 'justonce intents list --needs-person',
    })
  for (const [name, { oldestMs = 0, ready, hidden }] of Object.entries(outgoing))
    if (oldestMs > longWaitMs)
      findings.push({
        level: 'problem',
        check: 'outgoing',
        found: `${ready + hidden} messages for ${name}, the oldest for ${spanOf(oldestMs)}`,
        fix: 'Is a process with the duty relay running that has this destination, and can it reach its broker?',
      })
  return findings.length > 0 ? findings : [{ level: 'ok', check: 'backlog', found: 'nothing waits for a person' }]
}
