import { SimError } from './database/sim-error.ts'
import type { Faults } from './faults.ts'
import type { SimProcess } from './process.ts'
import type { Scheduler } from './scheduler.ts'

export interface Network {
  readonly scheduler: Scheduler
  readonly faults: Faults
  /** How much quicker than usual it is. */
  readonly quicker?: number
  /** How long a process may be frozen at a step. */
  readonly longestFreezeMs?: (step: string) => number
}

interface Call<T> {
  readonly step: string
  readonly work: () => T | Promise<T>
  readonly latency: () => number
  readonly fault: string | undefined
  resolve(value: T): void
  reject(error: unknown): void
}

/**
 * A connection from a process to a server, with a network in between that may be slow, lose things or be cut. Calls are
 * done by the server one at a time, in order, and are done even if the caller dies while they are on their way.
 */
export class Link {
  readonly #process: SimProcess
  readonly #network: Network
  readonly #pending = new Set<(error: SimError) => void>()
  readonly #onLost: ((error: SimError) => void)[] = []
  #server: Promise<unknown> = Promise.resolve()
  #lost: SimError | undefined
  #held = 0
  /** When the last request and the last answer arrive: what comes later on the same connection arrives later. */
  readonly #lastArrival = { request: 0, answer: 0 }

  constructor(process: SimProcess, network: Network) {
    this.#process = process
    this.#network = network
    process.onDeath(() => network.scheduler.after(1, () => this.lose('client is gone')))
  }

  get isLost(): boolean {
    return this.#lost !== undefined
  }

  onLost(callback: (error: SimError) => void): void {
    this.#onLost.push(callback)
  }

  call<T>(step: string, work: () => T | Promise<T>): Promise<T> {
    // The dead say nothing more, whatever of their code is still on its way to its next call.
    if (!this.#process.isAlive) return new Promise(() => {})
    if (this.#lost !== undefined) return Promise.reject(this.#lost)
    const { scheduler, faults, quicker = 1 } = this.#network
    const fault = faults.next(this.#process, step)
    scheduler.note(this.#process.name, fault === undefined ? step : `${step}: FAULT ${fault}`)
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    this.#pending.add(reject)
    const latency = () => (scheduler.random.between(1, 5) * (fault === 'slow' ? 200 : 1)) / quicker
    const call: Call<T> = { step, work, latency, fault, resolve, reject }
    if (fault?.endsWith('-before')) this.#strike(fault, step)
    // A frozen process has not handed its request to the network yet, nor what it asks on this connection after that.
    if (fault === 'pause-before' || this.#held > 0) {
      this.#held++
      this.#process.whenResumed(() => {
        this.#held--
        this.#send(call)
      })
    } else if (!fault?.endsWith('-before')) this.#send(call)
    return promise
  }

  /** Ends it for both sides: the server forgets its session, pending calls fail. */
  lose(why: string): void {
    if (this.#lost !== undefined) return
    const error = new SimError('connection-lost', why)
    this.#lost = error
    for (const callback of this.#onLost) callback(error)
    const pending = [...this.#pending]
    this.#pending.clear()
    if (pending.length > 0)
      this.#network.scheduler.after(1, () => pending.forEach((reject) => void reject(error)), this.#process)
  }

  #send<T>(call: Call<T>): void {
    this.#network.scheduler.after(this.#inOrder('request', call.latency()), () => {
      this.#server = this.#server.then(async () => {
        if (this.#lost !== undefined) return
        try {
          if (call.fault === 'refused') throw new SimError('refused', 'the server refuses this')
          const value = await call.work()
          this.#answer(call, () => call.resolve(value))
        } catch (error) {
          this.#answer(call, () => call.reject(error))
        }
      })
    })
  }

  #answer<T>(call: Call<T>, settle: () => void): void {
    if (call.fault?.endsWith('-after')) this.#strike(call.fault, call.step)
    if (this.#lost !== undefined) return
    const arrive = () => {
      if (this.#pending.delete(call.reject)) settle()
    }
    this.#network.scheduler.after(this.#inOrder('answer', call.latency()), arrive, this.#process)
  }

  #inOrder(kind: 'request' | 'answer', latency: number): number {
    const { now } = this.#network.scheduler
    this.#lastArrival[kind] = Math.max(this.#lastArrival[kind], now + latency)
    return this.#lastArrival[kind] - now
  }

  #strike(fault: string, step: string): void {
    const { scheduler, longestFreezeMs = () => 20_000 } = this.#network
    if (fault.startsWith('die')) this.#process.die()
    else if (fault.startsWith('vanish')) this.#process.vanish()
    else if (fault.startsWith('cut')) this.lose('connection was cut')
    else if (fault.startsWith('pause')) this.#process.pause(scheduler.random.between(50, longestFreezeMs(step)))
  }
}
