import type { QueueCount, RecordsSize } from '../contracts/index.ts'
import type { HandlerCounts, Pause, ReceivedReport } from '../facts/index.ts'
import type { WhoAndWhy } from './types.ts'

/** A process that is alive, as it said itself a few seconds ago. */
export interface ProcessView extends Omit<ReceivedReport, 'minute' | 'recent'> {
  /** What it does now. */
  readonly now: Rates
}

/** How much is done, per second, and how long it takes. */
export interface Rates {
  readonly processed: number
  readonly duplicates: number
  readonly failed: number
  readonly retried: number
  readonly dead: number
  readonly expired: number
  /** Messages that handlers stored to be sent. */
  readonly published: number
  /** Messages that brokers have taken. */
  readonly sent: number
  /** How many messages a batch has on average; `undefined` if there was none. */
  readonly batchSize: number | undefined
  /** How long half of the calls of handlers take at most, and 99 of 100; `undefined` if there was no call. */
  readonly p50Ms: number | undefined
  readonly p99Ms: number | undefined
}

/** What was done in one minute. */
export interface MinuteView {
  /** The beginning of the minute, by the database's clock. */
  readonly at: Date
  readonly processed: number
  /** Duplicates that a process recognised without asking the database, and those that the database recognised. */
  readonly knownHere: number
  readonly knownInStore: number
  readonly failed: number
  readonly retried: number
  readonly dead: number
  readonly expired: number
  readonly published: number
  readonly sent: number
  /** Could not be sent; most of these are sent later. */
  readonly unsent: number
  readonly batches: number
  /** The messages of all batches, and of the largest one. */
  readonly batchMessages: number
  readonly largestBatch: number
  readonly p50Ms: number | undefined
  readonly p99Ms: number | undefined
}

/** What `operations.overview()` takes. */
export interface OverviewOptions {
  /** How many minutes of history to return; 0 for none. Default: 60. */
  readonly minutes?: number | undefined
  /** Only what this process does and did. Default: all processes together. */
  readonly process?: string | undefined
}

/** Everything that runs on a store, on one page. */
export interface Overview {
  readonly store: { readonly name: string; readonly guarantee: string }
  /** How many processes are alive. */
  readonly processes: number
  /** What all of them do now. */
  readonly now: Rates
  /** One entry per minute without gaps, oldest first. The last minute is still running. */
  readonly history: readonly MinuteView[]
  /** The messages that wait in queues of the store, by queue. */
  readonly queues: Readonly<Record<string, QueueCount>>
  /** The messages that wait at brokers, by source, as far as brokers tell; the processes that read them ask every 15 s. */
  readonly brokers: Readonly<Record<string, number>>
  /** Published but not sent yet, by destination. */
  readonly outgoing: Readonly<Record<string, QueueCount>>
  /** Published messages whose time to leave has not come. */
  readonly delayed: number
  readonly parked: {
    readonly waiting: number
    readonly dead: number
    /** Since when the message that has waited longest for another attempt has waited. */
    readonly waitingSince: Date | undefined
  }
  /** Calls outside that have not ended: those that are tried by themselves, and those that wait for a person. */
  readonly intents: { readonly waiting: number; readonly dead: number }
  /** About how many records there are and how much room they take, as far as the store knows without counting. */
  readonly records: RecordsSize | undefined
  /** How far back the records can still prove; `undefined` if none was ever removed. */
  readonly horizon: Date | undefined
}

/** A rule of `alerts` that is not quiet. */
export interface AlertView {
  readonly rule: string
  readonly app: string | undefined
  readonly when: string
  readonly over: number
  /** `pending`: not for long enough yet. `calming`: it has fired, and is no longer over its limit, but not for long enough. */
  readonly phase: 'pending' | 'firing' | 'calming'
  readonly value: number
  readonly since: Date
  /** When a process last looked, every 15 s as a rule. Longer ago: no process has the rule any more, or none is running. */
  readonly seenAt: Date
}

/** A handler in all processes. */
export interface HandlerView {
  readonly name: string
  /** More than one only if apps share a name that they should not share. */
  readonly types: readonly string[]
  readonly formerly: readonly string[]
  /** Where it runs. Empty if no process that is alive has it. */
  readonly processes: readonly HandlerPlace[]
  /** Set if an operator has paused it in all processes. */
  readonly paused: Pause | undefined
  /** What it did in the last quarter of an hour. */
  readonly counts: Omit<HandlerCounts, 'durations'>
  /** Which share of its attempts failed, from 0 to 1; `undefined` if there was none. */
  readonly failureRate: number | undefined
  readonly p50Ms: number | undefined
  readonly p99Ms: number | undefined
  /** Messages that wait for another attempt, and dead letters. */
  readonly waiting: number
  readonly dead: number
}

/** A handler in one of the processes that have it. */
export interface HandlerPlace {
  readonly process: string
  readonly host: string
  readonly pid: number
  readonly breaker: 'closed' | 'open'
  readonly paused: 'app' | 'operator' | undefined
  /** How many of its calls are running; of those that the process has listed. */
  readonly running: number
}

/** What operators ask about handlers, and do with them. */
export interface HandlerOperations {
  /** All handlers that a process has, that have messages parked, or that are paused, by name. */
  list(): Promise<readonly HandlerView[]>
  /**
   * Gives the handler no more messages in any process, within a heartbeat (5 s) and until `resume`, also after restarts: they wait
   * as behind an open breaker, and no attempt is counted. Calls that are running are finished. False if it was paused before.
   */
  pause(handler: string, whoAndWhy: WhoAndWhy): Promise<boolean>
  /** False if it was not paused. */
  resume(handler: string, whoAndWhy: WhoAndWhy): Promise<boolean>
}
