import type { IncomingMessage, Store } from '../../contracts/index.ts'
import { Broker } from './broker.ts'
import { runOutside } from './inside-handler.ts'
import { Journal } from './journal.ts'
import type { UntypedOptions } from './options.ts'
import type { PinSettings } from './pins.ts'
import { type ProcessParts, type SimulatedProcess, startProcess } from './process.ts'
import { readEffect } from './read-effect.ts'
import type { ScratchCopy, ScratchTemplate } from './scratch.ts'
import type { Step, Strike } from './steps.ts'
import type { Tables } from './tables.ts'

/** What happens at one step of one message. */
export interface PlannedStrike {
  readonly message: IncomingMessage
  /** Counted from 0 in the order of the undisturbed run. */
  readonly step: number
  /** A strike, or what another process does meanwhile. */
  readonly what: Strike | { readonly kind: 'elsewhere'; readonly deliver: IncomingMessage }
}

/** One message is stopped before one of its queries until the handlers of another message in its batch have settled. */
export interface Hold {
  readonly message: IncomingMessage
  /** Counted from 0. */
  readonly query: number
  readonly until: IncomingMessage
  /** How many handlers the other message has. */
  readonly handlers: number
}

export interface RunPlan {
  /** Delivered batch by batch. */
  readonly batches: readonly (readonly IncomingMessage[])[]
  readonly pins: PinSettings
  readonly strike?: PlannedStrike
  readonly hold?: Hold
  readonly isTracing?: boolean
  /** A failed handler ends the run. Shows whether it works at all. */
  readonly stopsAtFailure?: boolean
  /** No new process starts after the crash. */
  readonly staysDead?: boolean
  /** Delivered once more when everything is done. */
  readonly again?: { readonly message: IncomingMessage; readonly to: 'the-same-process' | 'a-new-process' }
}

export interface RunOutcome {
  readonly effect: Tables
  readonly journal: Journal
  /** The steps of each message at its first delivery. */
  readonly steps: ReadonlyMap<IncomingMessage, readonly Step[]>
  /** Whether the planned strike was reached. */
  readonly wasStruck: boolean
  /** Messages that were redelivered repeatedly and never acknowledged. */
  readonly stuck: readonly string[]
}

const deliveriesAtMost = 20

/** One run on a fresh copy of the database, from the first delivery until nothing is left to do. */
export async function runPlan<S extends Store>(
  options: UntypedOptions<S>,
  template: ScratchTemplate<S>,
  plan: RunPlan,
): Promise<RunOutcome> {
  await options.reset?.()
  const run = new Run(options, await template.fresh(), plan)
  return await run.play()
}

class Run<S extends Store> {
  readonly #plan: RunPlan
  readonly #parts: Omit<ProcessParts<S>, 'number'>
  readonly #copy: ScratchCopy<S>
  readonly #journal: Journal
  readonly #broker = new Broker()
  readonly #steps = new Map<IncomingMessage, Step[]>()
  readonly #stuck: string[] = []
  readonly #beside: Promise<void>[] = []
  #process!: SimulatedProcess<S>
  #other: SimulatedProcess<S> | undefined
  #underWay: IncomingMessage | undefined
  #wasStruck = false
  #queriesOfHeld = 0
  readonly #calls = { begins: new Map<string, number>(), settles: new Map<string, number>() }

  constructor(options: UntypedOptions<S>, copy: ScratchCopy<S>, plan: RunPlan) {
    this.#plan = plan
    this.#copy = copy
    this.#journal = new Journal({ isTracing: plan.isTracing ?? false })
    const { pins } = plan
    const strikeAt = (step: Step): Strike | undefined => this.#strikeAt(step)
    const called: ProcessParts<S>['called'] = (messageId, what) => {
      this.#calls[what].set(messageId, this.#countOf(messageId, what) + 1)
    }
    this.#parts = { options, copy, broker: this.#broker, journal: this.#journal, pins, strikeAt, called }
  }

  async play(): Promise<RunOutcome> {
    const { batches, again, strike } = this.#plan
    this.#process = await startProcess({ ...this.#parts, number: 1 })
    if (strike?.what.kind === 'elsewhere')
      this.#other = await startProcess({ ...this.#parts, number: 2, strikeAt: () => undefined })
    try {
      for (const batch of batches) {
        await this.#deliver(batch)
        if (this.#process.life.isOver || this.#hasFailed()) break
      }
      if (again !== undefined) await this.#deliverAgain(again)
      const effect = await readEffect(this.#parts.options, this.#copy, this.#process.store, this.#journal)
      return { effect, journal: this.#journal, steps: this.#steps, wasStruck: this.#wasStruck, stuck: this.#stuck }
    } finally {
      await this.#process.close()
      await this.#other?.close()
      await this.#copy.remove()
    }
  }

  async #deliver(batch: readonly IncomingMessage[]): Promise<void> {
    for (let times = 1; ; times++) {
      const waiting = this.#broker.unsettled(batch)
      if (waiting.length === 0) break
      if (times > deliveriesAtMost) {
        this.#stuck.push(...waiting.map(({ id }) => String(id)))
        break
      }
      this.#underWay = times === 1 && waiting.length === 1 ? waiting[0] : undefined
      this.#note('delivery', `${names(waiting)} ${times === 1 ? 'is delivered' : 'is delivered again'}`)
      const end = await this.#handle(this.#process, waiting, times > 1)
      if (end === 'died' && this.#plan.staysDead) break
      if (end === 'died') await this.#restart()
    }
    this.#underWay = undefined
    await Promise.all(this.#beside.splice(0))
    if (!this.#process.life.isOver && !this.#hasFailed()) await this.#process.retryAll()
  }

  /** A consumer holds its messages while the store is unavailable, and then tries again. */
  async #handle(
    process: SimulatedProcess<S>,
    messages: readonly IncomingMessage[],
    redelivered: boolean,
  ): Promise<'done' | 'died' | 'held'> {
    try {
      return await process.handle(messages.map((message) => ({ message, redelivered })))
    } catch (error) {
      this.#journal.add(process.number, 'fault', `not handled: ${error instanceof Error ? error.message : error}`)
      return 'held'
    }
  }

  #hasFailed(): boolean {
    return this.#plan.stopsAtFailure === true && this.#journal.failures.length > 0
  }

  async #restart(text = 'uncommitted work of the dead process is rolled back; a new process starts'): Promise<void> {
    const { number } = this.#process
    await this.#process.close()
    this.#process = await startProcess({ ...this.#parts, number: number + 1 })
    this.#note('process', text)
  }

  async #deliverAgain({ message, to }: NonNullable<RunPlan['again']>): Promise<void> {
    if (to === 'a-new-process') await this.#restart('the process stops, and a new one starts')
    this.#broker.forget([message])
    await this.#deliver([message])
  }

  /** Only the first process is disturbed, while it handles the message named in the plan. */
  #strikeAt(step: Step): Strike | undefined {
    const { hold } = this.#plan
    const isOfHeld = hold !== undefined && step.kind === 'query' && step.message === String(hold.message.id)
    if (isOfHeld && this.#queriesOfHeld++ === hold.query)
      return { kind: 'meanwhile', begin: () => runOutside(() => this.#untilSettled(hold)) }
    const message = this.#underWay
    if (message === undefined) return undefined
    const steps = this.#steps.get(message) ?? []
    this.#steps.set(message, steps)
    steps.push(step)
    const { strike } = this.#plan
    if (strike?.message !== message || strike.step !== steps.length - 1) return undefined
    this.#wasStruck = true
    const { what } = strike
    return what.kind === 'elsewhere'
      ? { kind: 'meanwhile', begin: () => runOutside(() => this.#handleElsewhere(what.deliver)) }
      : what
  }

  #countOf(messageId: string, what: 'begins' | 'settles'): number {
    return this.#calls[what].get(messageId) ?? 0
  }

  /** If the other message has not begun soon, it does not interleave with this one. */
  async #untilSettled({ until, handlers }: Hold): Promise<void> {
    const id = String(until.id)
    for (let turns = 0; this.#countOf(id, 'settles') < handlers; turns++) {
      if (turns > 100 && this.#countOf(id, 'begins') === 0) return
      await new Promise((resolve) => setImmediate(resolve))
    }
    this.#note('fault', `${id} runs in the same transaction up to here`)
  }

  /** Starts it, and resolves when it has ended or waits for the first process. */
  async #handleElsewhere(message: IncomingMessage): Promise<void> {
    const other = this.#other as SimulatedProcess<S>
    let isOver = false
    this.#note('fault', `meanwhile ${message.id} is delivered to another process`)
    const handling = this.#handleUntilSettled(other, message).finally(() => {
      isOver = true
    })
    this.#beside.push(handling)
    const { someoneWaits } = this.#copy
    do await new Promise((resolve) => setImmediate(resolve))
    while (someoneWaits !== undefined && !isOver && !(await someoneWaits()))
  }

  async #handleUntilSettled(process: SimulatedProcess<S>, message: IncomingMessage): Promise<void> {
    for (let times = 1; times <= deliveriesAtMost; times++) {
      if (this.#broker.unsettled([message]).length === 0) return await process.retryAll()
      await this.#handle(process, [message], times > 1)
    }
    this.#stuck.push(String(message.id))
  }

  #note(kind: 'delivery' | 'process' | 'fault', text: string): void {
    this.#journal.add(this.#process.number, kind, text)
  }
}

function names(messages: readonly IncomingMessage[]): string {
  return messages.map(({ id }) => id).join(' + ')
}
