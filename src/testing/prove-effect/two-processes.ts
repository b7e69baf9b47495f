import { justonce } from '../../app/justonce.ts'
import { inTime, systemClock } from '../../clock/index.ts'
import { intentHandler } from '../../encoding/intent-name.ts'
import type { EffectOptions } from '../../intents/effect.ts'
import { MemoryDatabase, memoryStore } from '../../stores/memory/index.ts'
import { type FakeClock, fakeClock } from '../fake-clock.ts'
import type { EffectEnd } from './effect-proof.ts'

const name = 'proved'
const key = 'the-only-one'
/** By a real clock: the time limits of the effect are by one that is moved by hand. */
const answerWithinMs = 10_000

/** Two processes with the real worker of intents on one database. Each has a clock of its own: one whose clock stands is halted. */
export class TwoProcesses {
  readonly #clocks = { database: fakeClock(), first: fakeClock(), second: fakeClock() }
  readonly #database = new MemoryDatabase({ clock: this.#clocks.database })
  /** Calls of the user's code that have not ended. They take real time. */
  readonly #calls = new Set<Promise<unknown>>()
  readonly #first: ReturnType<typeof openApp>
  readonly #second: ReturnType<typeof openApp>
  #isHalted = false
  passedMs = 0

  constructor(effect: EffectOptions, disturb: (run: EffectOptions['run']) => EffectOptions['run']) {
    const { run, probe } = effect
    const noted = { ...effect, run: this.#noting(run), ...(probe !== undefined && { probe: this.#noting(probe) }) }
    this.#first = openApp(this.#database, this.#clocks.first, { ...noted, run: disturb(noted.run) })
    this.#second = openApp(this.#database, this.#clocks.second, noted)
  }

  /** The call is intended, and the first process takes it. */
  async begin(payload: unknown): Promise<void> {
    const store = memoryStore({ database: this.#database })
    await store.transaction((tx) => this.#first.intend(name, payload, { tx, key }))
    await this.#first.start()
    await this.step(0)
    await this.#second.start()
  }

  /** The first process does nothing more. */
  halt(): void {
    this.#isHalted = true
  }

  /** It goes on, and its clock says how long it has slept. */
  async thaw(): Promise<void> {
    this.#isHalted = false
    await this.#clocks.first.advance(this.passedMs)
  }

  async step(ms: number): Promise<void> {
    this.passedMs += ms
    for (const clock of [this.#clocks.database, ...this.#moving]) await clock.advance(ms)
    while (this.#calls.size > 0) {
      const all = Promise.allSettled(this.#calls).then(() => true)
      if (!(await inTime(all, { clock: systemClock, withinMs: answerWithinMs })))
        throw new Error(`The effect, or its probe, has not ended within ${answerWithinMs} ms.`)
    }
    for (const clock of this.#moving) await clock.advance(0)
  }

  async end(): Promise<EffectEnd> {
    const { intents, records } = this.#second.operations
    const [open] = await intents.list()
    if (open?.state === 'given-up') return 'given-up'
    if (open !== undefined) return open.needsPerson ? 'person' : 'open'
    const record = await records.find({ handler: intentHandler(name), key })
    return record?.state === 'discarded' ? 'discarded' : 'done'
  }

  async stop(): Promise<void> {
    const living = this.#isHalted ? [this.#second] : [this.#first, this.#second]
    const stopped = Promise.all(living.map((app) => app.stop()))
    for (const clock of this.#moving) await clock.advance(60_000)
    await stopped
  }

  get #moving(): readonly FakeClock[] {
    const { first, second } = this.#clocks
    return this.#isHalted ? [second] : [first, second]
  }

  #noting<Given extends unknown[], Answer>(made: (...given: Given) => Answer) {
    return async (...given: Given): Promise<Awaited<Answer>> => {
      const call = (async () => await made(...given))()
      this.#calls.add(call)
      return await call.finally(() => this.#calls.delete(call))
    }
  }
}

function openApp(database: MemoryDatabase, clock: FakeClock, effect: EffectOptions) {
  const app = justonce({ store: memoryStore({ database }), clock, only: ['intents'], log: false })
  app.effect(name, effect)
  return app
}
