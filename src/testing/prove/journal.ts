import type { DeliveryMode } from '../../engine/handler.ts'
import type { Step } from './steps.ts'
import { sortedJson } from './tables.ts'

export interface TimelineEntry {
  /** 1 is the first process; 2 the one that comes after a crash, or a second one beside it. */
  readonly process: number
  readonly kind: 'delivery' | 'step' | 'fault' | 'process' | 'outcome'
  readonly text: string
}

/** One query with everything that it was about; two runs of a handler are compared by these. */
export interface TracedQuery {
  readonly question: string
  readonly answer: string
}

/** A use of `tx` that nobody waited for. */
export interface StrayCall {
  readonly handler: string
  readonly text: string
  /** What the handler had done by then. */
  readonly after: 'resolved' | 'rejected'
}

/** Something that left the process from inside a handler. */
export interface OutsideCall {
  readonly handler: string
  readonly messageId: string
  readonly kind: 'fetch' | 'request' | 'child process' | 'socket' | 'publish'
  readonly what: string
  /** Nothing but this machine, or a stand-in of a test, is at the other end. */
  isHarmless: boolean
}

/** Everything that one run tells about what happened. */
export class Journal {
  readonly timeline: TimelineEntry[] = []
  readonly trace: TracedQuery[] = []
  readonly strayCalls: StrayCall[] = []
  readonly outsideCalls: OutsideCall[] = []
  readonly failures: { readonly handler: string; readonly error: unknown }[] = []
  /** Handlers that went on to the end although a query of theirs had failed. */
  readonly swallowedBy = new Set<string>()
  /** Which handlers ran for which message. */
  readonly ran = new Map<string, Map<string, DeliveryMode>>()
  readonly reads = { clock: 0, random: 0 }
  /** How often a transaction was undone because it could not be committed after an error in it. */
  undone = 0
  readonly #isTracing: boolean

  constructor({ isTracing }: { readonly isTracing: boolean }) {
    this.#isTracing = isTracing
  }

  runs(messageId: string, handler: string, delivery: DeliveryMode): void {
    const handlers = this.ran.get(messageId) ?? new Map<string, DeliveryMode>()
    this.ran.set(messageId, handlers.set(handler, delivery))
  }

  add(process: number, kind: TimelineEntry['kind'], text: string): void {
    this.timeline.push({ process, kind, text })
  }

  answered(step: Step, values: unknown, answer: unknown): void {
    if (!this.#isTracing || step.kind !== 'query') return
    this.trace.push({ question: `${step.text} ${sortedJson(values)}`, answer: sortedJson(rowsIn(answer)) })
  }
}

/** A result of pg also has parsers and lengths in it. */
function rowsIn(answer: unknown): unknown {
  if (typeof answer !== 'object' || answer === null || !('rows' in answer)) return answer
  return { rows: answer.rows, rowCount: 'rowCount' in answer ? answer.rowCount : undefined }
}
