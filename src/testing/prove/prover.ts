import { decideCodecs } from '../../app/codec-options.ts'
import type { IncomingMessage, Store } from '../../contracts/index.ts'
import { encodeBody } from '../../engine/publishing/encode-body.ts'
import { toIncoming } from '../../transports/memory/message-to-send.ts'
import { type Comparing, type Difference, differencesBetween, unsteadyColumns } from './compare.ts'
import { explanations } from './explanations.ts'
import type { FailureName } from './failure-names.ts'
import { cutTo, type Journal } from './journal.ts'
import type { UntypedOptions } from './options.ts'
import type { Order } from './orders.ts'
import type { PinSettings } from './pins.ts'
import type { Failure, OrderDifferences } from './proof.ts'
import { type RunOutcome, type RunPlan, runPlan } from './run.ts'
import type { ScratchTemplate } from './scratch.ts'
import { checkSteady } from './steady.ts'
import type { Step } from './steps.ts'
import type { TableFacts, Tables } from './tables.ts'

/** The result of the undisturbed run. */
export interface Baseline {
  readonly facts: TableFacts
  readonly initial: Tables
  readonly effect: Tables
  readonly steps: ReadonlyMap<IncomingMessage, readonly Step[]>
  readonly journal: Journal
  /** Whether only one transaction can be open at a time. */
  readonly isSerial: boolean
}

interface Found {
  readonly handlers: readonly string[]
  readonly where: string
  readonly seen: readonly string[]
  readonly differences?: readonly Difference[]
  readonly orders?: readonly OrderDifferences[]
  readonly journal?: Journal
  /** The report shows only what happened to this message. */
  readonly about?: IncomingMessage
}

/** Two messages that met, and what came of it. */
interface Met extends Pick<RunOutcome, 'effect' | 'journal'> {
  readonly pair: readonly [IncomingMessage, IncomingMessage]
  readonly how: string
  readonly where: string
}

/** The state that all parts of a proof share. */
export class Prover<S extends Store> {
  readonly options: UntypedOptions<S>
  readonly messages: readonly IncomingMessage[]
  readonly failures: (Failure & { readonly alsoAt: string[] })[] = []
  readonly notes: string[] = []
  readonly ignored: Set<string>
  baseline!: Baseline
  readonly journals: { readonly doing: string; readonly journal: Journal }[] = []
  runs = 0
  expectedRuns = 0
  readonly #template: ScratchTemplate<S>

  constructor(options: UntypedOptions<S>, template: ScratchTemplate<S>) {
    this.options = options
    this.#template = template
    const codecOf = decideCodecs(options.app?.codec)
    this.messages = options.messages.map((message) => {
      const codec = message.body instanceof Uint8Array ? undefined : codecOf(message.type)
      const body = codec === undefined ? message.body : encodeBody(message.body, message.type, codec)
      return toIncoming({ ...message, body }, 'prove')
    })
    this.ignored = new Set(options.ignore ?? [])
  }

  async run(doing: string, plan: Omit<RunPlan, 'pins'> & { readonly pins?: PinSettings }): Promise<RunOutcome> {
    this.options.signal?.throwIfAborted()
    this.options.onProgress?.({ done: this.runs, total: Math.max(this.expectedRuns, this.runs + 1), doing })
    const outcome = await runPlan(this.options, this.#template, { pins: usualPins, ...plan })
    this.runs++
    // Lets work that a handler has left running continue, so that it shows in its own run.
    await new Promise((resolve) => setImmediate(resolve))
    this.journals.push({ doing, journal: outcome.journal })
    return outcome
  }

  /** Each message in its own batch, in order. */
  oneByOne(messages: readonly IncomingMessage[] = this.messages): readonly (readonly IncomingMessage[])[] {
    return messages.map((message) => [message])
  }

  async look(): Promise<Pick<Baseline, 'facts' | 'isSerial'>> {
    const copy = await this.#template.fresh()
    const facts = await copy.facts()
    await copy.remove()
    return { facts, isSerial: copy.someoneWaits === undefined }
  }

  differences(found: Tables, expected: Tables = this.baseline.effect): readonly Difference[] {
    return differencesBetween(expected, found, this.#comparing())
  }

  /**
   * The same, after checking that the undisturbed run itself has not changed meanwhile: a column that the database fills with
   * the time may stay the same for a whole second and then differ.
   */
  async confirmedDifferences(found: Tables, expected?: Tables): Promise<readonly Difference[]> {
    if (this.differences(found, expected).length === 0) return []
    const undisturbed = await this.run('undisturbed once more', { batches: this.oneByOne(), isTracing: true })
    checkSteady(this, undisturbed)
    return this.differences(found, expected)
  }

  /** Columns in which the database itself makes two undisturbed runs differ are not compared. */
  ignoreUnsteady(effect: Tables): void {
    for (const column of unsteadyColumns(this.baseline.effect, effect, this.#comparing())) {
      this.ignored.add(column)
      this.notes.push(`${column} differs from run to run (a database default?), so it was not compared.`)
    }
  }

  note(text: string): void {
    if (!this.notes.includes(text)) this.notes.push(text)
  }

  handlersOf(message: IncomingMessage): readonly string[] {
    return [...(this.baseline.journal.ran.get(String(message.id))?.keys() ?? [])]
  }

  /** Records a failure and returns its number. The same failure at another place is only added to it. */
  found(name: FailureName, { handlers, where, seen, differences = [], orders = [], journal, about }: Found): number {
    const known = this.#indexOf(name, handlers)
    if (known >= 0) {
      const failure = this.failures[known] as (typeof this.failures)[number]
      if (failure.where !== where && !failure.alsoAt.includes(where)) failure.alsoAt.push(where)
      return known + 1
    }
    const isAllowed = this.options.allow?.includes(name) ?? false
    const timeline = cutTo([...(journal?.timeline ?? [])], about?.id)
    return this.failures.push({
      name,
      ...explanations[name],
      handlers,
      where,
      seen,
      differences,
      orders,
      timeline,
      alsoAt: [],
      isAllowed,
    })
  }

  /** Records a failure unless two messages that met had one of the effects that are fine: those of one order and of the other. */
  async foundUnless(fine: readonly Order[], name: FailureName, met: Met): Promise<number | undefined> {
    const { pair, how, where, effect, journal } = met
    if (fine.some((order) => this.differences(effect, order.effect).length === 0)) return undefined
    const differences = await this.confirmedDifferences(effect)
    const orders = fine.map((order) => ({ order: order.name, differences: this.differences(effect, order.effect) }))
    // The check of the undisturbed run may have shown that only what the database itself writes was different.
    if (orders.some((order) => order.differences.length === 0)) return undefined
    const handlers = [...new Set(pair.flatMap((message) => this.handlersOf(message)))]
    const seen = [`${how}, ${pair.map(({ id }) => id).join(' and ')} had an effect that neither order has.`]
    const cause = this.causeFor(handlers)
    const blamed = cause?.handlers ?? handlers
    return this.found(cause?.name ?? name, { handlers: blamed, where, seen, differences, orders, journal })
  }

  /** A known failure of these handlers that explains a difference better than the difference itself. */
  causeFor(handlers: readonly string[]): Failure | undefined {
    return this.failures.find(
      ({ name, handlers: known }) => explaining.has(name) && known.some((each) => handlers.includes(each)),
    )
  }

  hasFound(name: FailureName, handlers: readonly string[]): boolean {
    return this.#indexOf(name, handlers) >= 0
  }

  #indexOf(name: FailureName, handlers: readonly string[]): number {
    return this.failures.findIndex((other) => other.name === name && sameItems(other.handlers, handlers))
  }

  #comparing(): Comparing {
    const { facts, initial } = this.baseline
    return { facts, initial, ignored: this.ignored }
  }
}

const explaining: ReadonlySet<FailureName> = new Set<FailureName>(['writes-outside-tx', 'not-awaited'])

/** Close to the real time, so that certificates and the like stay valid, and the same for the whole proof. */
export const usualPins: PinSettings = { clockMs: Date.now(), seed: 1 }

function sameItems(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item) => b.includes(item))
}
