import type { BrokerState, Facts, TransportNotice } from '../contracts/index.ts'
import { timeOfRevision } from './database-now.ts'
import { type Counts, type PackedCounts, packCounts, unpackCounts } from './statistics.ts'

/** A handler as a process has it. */
export interface ReportedHandler {
  readonly name: string
  readonly type: string
  /** Other names under which it has records. */
  readonly formerly: readonly string[]
  /** `open`: all its messages fail, so it gets only one now and then. */
  readonly breaker: 'closed' | 'open'
  /** Paused by the code of the process (`app`), or by an operator. */
  readonly paused: 'app' | 'operator' | undefined
}

/** A broker as a process sees it. */
export interface ReportedBroker extends BrokerState {
  readonly name: string
}

/** A source that a process could not read from in the last minute. */
export interface ReportedTrouble {
  readonly name: string
  readonly message: string
}

/** A call of a handler that has not ended. */
export interface RunningCall {
  readonly handler: string
  /** The message; the first one of a batch handler. */
  readonly messageId: string
  readonly key: string
  /** How many messages the call has. */
  readonly messages: number
  /** 1 is the first attempt. */
  readonly attempt: number
  /** By the database's clock. */
  readonly since: Date
}

/** What a process says about itself every few seconds. */
export interface ProcessReport {
  readonly id: string
  /** The name that the app was given. */
  readonly app: string | undefined
  readonly host: string
  readonly pid: number
  /** The version of justonce. */
  readonly version: string
  readonly node: string
  readonly startedAt: Date
  readonly duties: readonly string[]
  readonly sources: readonly string[]
  readonly destinations: readonly string[]
  readonly handlers: readonly ReportedHandler[]
  /** What it knows of its brokers; absent before it has asked, and in reports of earlier versions. */
  readonly brokers?: readonly ReportedBroker[] | undefined
  /** What it cannot read from, at this moment; absent in reports of earlier versions. */
  readonly trouble?: readonly ReportedTrouble[] | undefined
  /** What it was warned of since it started. */
  readonly warnings?: readonly TransportNotice[] | undefined
  /** How many connections its store has, and how many batches may need one at once. */
  readonly pool?: { readonly connections: number; readonly batches: number } | undefined
  /** The calls that have been running longest, and how many there are in all. */
  readonly running: readonly RunningCall[]
  readonly runningCount: number
  /** What it has done since the beginning of the minute. */
  readonly minute: { readonly at: Date; readonly counts: Counts }
  /** What it has done recently, and in how many milliseconds. */
  readonly recent: { readonly ms: number; readonly counts: Counts }
}

/** A report with what the store knows about it. */
export interface ReceivedReport extends ProcessReport {
  /** When the store received it, by the database's clock. */
  readonly reportedAt: Date
  /** How much the clock of the process was ahead of the database's; negative if it was behind. */
  readonly clockAheadMs: number
}

const kind = 'process'

export function nameOfReport(id: string): string {
  return `${kind} ${id}`
}

/** Revisions are the database's time, so the times in a report are ages, and nobody's clock matters. */
export function packReport(report: ProcessReport, now: Date): string {
  const age = (at: Date): number => Math.max(0, now.getTime() - at.getTime())
  const { startedAt, running, minute, recent, ...rest } = report
  return JSON.stringify({
    ...rest,
    sentAt: now.getTime(),
    age: age(startedAt),
    running: running.map(({ since, ...call }) => ({ ...call, age: age(since) })),
    minute: { age: age(minute.at), counts: packCounts(minute.counts) },
    recent: { ms: recent.ms, counts: packCounts(recent.counts) },
  })
}

interface Packed extends Omit<ProcessReport, 'startedAt' | 'running' | 'minute' | 'recent'> {
  readonly sentAt: number
  readonly age: number
  readonly running: readonly (Omit<RunningCall, 'since'> & { readonly age: number })[]
  readonly minute: { readonly age: number; readonly counts: PackedCounts }
  readonly recent: { readonly ms: number; readonly counts: PackedCounts }
}

/** A report as others would get it if the store received it at this moment. */
export function receivedReport(report: ProcessReport, now: Date, reportedAt: Date): ReceivedReport {
  return unpackReport(packReport(report, now), reportedAt.getTime() * 1_000) as ReceivedReport
}

/** `undefined` if it cannot be read: another version may have written it. */
export function unpackReport(value: string, revision: number): ReceivedReport | undefined {
  try {
    const { sentAt, age, running, minute, recent, ...rest } = JSON.parse(value) as Packed
    const reportedAt = timeOfRevision(revision)
    const before = (ms: number): Date => new Date(reportedAt.getTime() - ms)
    return {
      ...rest,
      startedAt: before(age),
      running: running.map(({ age: callAge, ...call }) => ({ ...call, since: before(callAge) })),
      minute: { at: before(minute.age), counts: unpackCounts(minute.counts) },
      recent: { ms: recent.ms, counts: unpackCounts(recent.counts) },
      reportedAt,
      clockAheadMs: sentAt - reportedAt.getTime(),
    }
  } catch {
    return undefined
  }
}

const mostProcesses = 1_000

/** The processes that are alive, those that started last first. */
export async function listReports({
  facts,
}: {
  readonly facts: Pick<Facts<never>, 'list'>
}): Promise<ReceivedReport[]> {
  const found = await facts.list(kind, mostProcesses)
  return found
    .flatMap(({ value, revision }) => unpackReport(value, revision) ?? [])
    .toSorted((a, b) => b.startedAt.getTime() - a.startedAt.getTime())
}
