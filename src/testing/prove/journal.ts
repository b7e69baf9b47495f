import type { DeliveryMode } from '../../engine/handler.ts'
import type { Step } from './steps.ts'
import { sortedJson } from './tables.ts'

export interface TimelineEntry {
  /** 1 is the first process. 2 is the one after a crash, or a second one beside it. */
  readonly process: number
  /**
   * - `delivery`: a message arrives.
   * - `step`: something is done for it; `text` has the values of a query.
   * - `return`: a handler has ended.
   * - `outside`: something leaves the process.
   * - `fault`: something goes wrong, intentionally or not.
   * - `process`: a process starts.
   */
  readonly kind: 'delivery' | 'step' | 'return' | 'outside' | 'fault' | 'process'
  readonly text: string
  readonly step?: Step
}

/** One query with its parameters and its result, or what was published or intended. Two runs of a handler are compared by these. */
export interface TracedQuery {
  readonly question: string
  readonly answer: string
}

/** A use of `tx` that the handler did not wait for. */
export interface StrayCall {
  readonly handler: string
  readonly text: string
  /** How the handler had ended by then. */
  readonly after: 'resolved' | 'rejected'
  /** The place in the user's code. */
  readonly place: string | undefined
}

/** Something that left the process from inside a handler. */
export interface OutsideCall {
  readonly handler: string
  readonly messageId: string
  readonly kind: 'fetch' | 'request' | 'child process' | 'socket' | 'publish'
  readonly what: string
  readonly place: string | undefined
  /** The other end is only this machine, or a fake in a test. */
  isHarmless: boolean
}

/** Everything recorded about one run. */
export class Journal {
  readonly timeline: TimelineEntry[] = []
  readonly trace: TracedQuery[] = []
  readonly strayCalls: StrayCall[] = []
  readonly outsideCalls: OutsideCall[] = []
  readonly failures: { readonly handler: string; readonly error: unknown }[] = []
  /** Handlers that succeeded although one of their queries had failed. */
  readonly swallowedBy = new Set<string>()
  /** Which handlers ran for which message. */
  readonly ran = new Map<string, Map<string, DeliveryMode>>()
  /** Handlers that are not tested, and why. */
  readonly leftOut = new Map<string, string>()
  /** Handlers that interleave. */
  readonly interleaving = new Set<string>()
  /** What was said about handlers that cannot. */
  readonly notInterleavable = new Set<string>()
  readonly reads = { clock: 0, random: 0 }
  /** How often a transaction was rolled back because an earlier error in it prevented the commit. */
  undone = 0
  /** Whether anything was published, intended or parked. Otherwise those tables need not be read. */
  readonly used = { publishing: false, intending: false, parking: false }
  readonly #isTracing: boolean

  constructor({ isTracing }: { readonly isTracing: boolean }) {
    this.#isTracing = isTracing
  }

  runs(messageId: string, handler: string, delivery: DeliveryMode): void {
    const handlers = this.ran.get(messageId) ?? new Map<string, DeliveryMode>()
    this.ran.set(messageId, handlers.set(handler, delivery))
  }

  add(process: number, kind: TimelineEntry['kind'], text: string, step?: Step): void {
    this.timeline.push({ process, kind, text, ...(step && { step }) })
  }

  answered(step: Step, values: unknown, answer: unknown): void {
    if (!this.#isTracing) return
    const question = `${step.text} ${sortedJson(values)}`
    // The answer to a handler that publishes or intends is an id, which differs every time.
    if (step.kind === 'publish' || step.kind === 'intend') this.trace.push({ question, answer: '' })
    if (step.kind === 'query') this.trace.push({ question, answer: sortedJson(rowsIn(answer)) })
  }
}

/** A result of pg also contains parsers and lengths. */
function rowsIn(answer: unknown): unknown {
  if (typeof answer !== 'object' || answer === null || !('rows' in answer)) return answer
  return { rows: answer.rows, rowCount: 'rowCount' in answer ? answer.rowCount : undefined }
}

/** Leaves out what happened to other messages, before and after the one with this id. */
export function cutTo(timeline: readonly TimelineEntry[], id: string | undefined): readonly TimelineEntry[] {
  const isDelivery = ({ kind }: TimelineEntry): boolean => kind === 'delivery'
  const isOwn = (entry: TimelineEntry): boolean => isDelivery(entry) && entry.text.startsWith(`${id} `)
  const from = timeline.findIndex(isOwn)
  if (id === undefined || from < 0) return timeline
  const rest = timeline.slice(from)
  const to = rest.findIndex((entry) => isDelivery(entry) && !isOwn(entry))
  return to < 0 ? rest : rest.slice(0, to)
}
