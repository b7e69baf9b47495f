import type { Cell } from '../cells.ts'
import type { PgClientShape } from '../client-shapes.ts'
import type { Answer, Call, Connection, Opened, Opening } from '../connection.ts'
import { explained } from '../errors.ts'
import type { Statement } from '../statement.ts'
import { Flight, wireOf } from './flight.ts'
import { PgRunner } from './pg-runner.ts'

/** Members that a `pg` client has or not, by version. */
interface PgExtras {
  readonly connection?: { readonly stream?: { destroy?(): void } }
  readonly processID?: number | null
  readonly readyForQuery?: boolean
  getTransactionStatus?(): string | null
}

export interface PgConnectionOptions {
  readonly prepare: boolean
  /** Ends a server process that goes on with a statement although nobody waits for it any more. */
  terminate(processId: number): void
}

export class PgConnection<Client extends PgClientShape> implements Connection<Client> {
  readonly tx: Client
  readonly #options: PgConnectionOptions
  readonly #runner: PgRunner
  #boarding: Flight | undefined
  #opening: Flight | undefined
  #lost: Error | undefined
  #gone = false

  constructor(client: Client, options: PgConnectionOptions) {
    this.tx = client
    this.#options = options
    this.#runner = new PgRunner(client, options.prepare)
    // Without a listener an ended connection would be an uncaught error of the process.
    client.on('error', this.#onError)
  }

  readonly #onError = (error: Error): void => {
    this.#lost ??= error
  }

  get skipsAfterFailure(): boolean {
    return this.#opening !== undefined
  }

  open({ begin, seal, settings, settingValues }: Opening): Opened {
    if (wireOf(this.tx) === undefined) {
      const begun = this.#runner.runAll([begin, seal])
      const set = this.#runner.run(settings, settingValues)
      return { answer: Promise.all([begun, set]).then(([, answer]) => answer), send: () => {} }
    }
    const flight = new Flight(this.#options)
    flight.addAhead(begin)
    flight.addAhead(seal)
    const answer = flight.add(settings, settingValues).catch(rethrown)
    this.#boarding = flight
    this.#opening = flight
    this.tx.query(flight)
    return {
      answer,
      send: () => {
        this.#boarding = undefined
        flight.send()
      },
    }
  }

  async run(statement: Statement, values: readonly Cell[]): Promise<Answer> {
    if (this.#boarding === undefined) return await this.#runner.run(statement, values)
    return await this.#boarding.add(statement, values).catch(rethrown)
  }

  async runInTurn(calls: readonly Call[]): Promise<readonly Answer[]> {
    if (!this.skipsAfterFailure) return await this.#runner.runInTurn(calls)
    const flight = this.#boarding ?? new Flight(this.#options)
    const answers = Promise.all(calls.map(({ statement, values }) => flight.add(statement, values)))
    if (flight !== this.#boarding) {
      flight.send()
      this.tx.query(flight)
    }
    return await answers.catch(rethrown)
  }

  async runAll(statements: readonly Statement[]): Promise<string> {
    if (!this.skipsAfterFailure) return await this.#runner.runAll(statements)
    const flight = new Flight(this.#options)
    for (const statement of statements.slice(0, -1)) flight.addAhead(statement)
    const last = flight.add(statements.at(-1) as Statement, [])
    flight.send()
    this.tx.query(flight)
    await last
    return flight.lastTag
  }

  script(text: string): Promise<string> {
    return this.#runner.script(text)
  }

  lost(): Error | undefined {
    return this.#lost
  }

  inTransaction(): boolean | undefined {
    const status = this.#opening?.landed === true ? this.#extras.getTransactionStatus?.() : undefined
    return status === undefined || status === null ? undefined : status !== 'I'
  }

  release(): void {
    if (this.#gone) return
    this.#gone = true
    this.tx.removeListener('error', this.#onError)
    this.tx.release()
  }

  discard(): void {
    if (this.#gone) return
    this.#gone = true
    const wasAlive = this.#lost === undefined
    const isBusy = this.#extras.readyForQuery !== true
    this.#lost ??= new Error('Connection terminated by the store')
    const { processID } = this.#extras
    this.tx.release(true)
    if (!wasAlive || !isBusy) return
    this.#extras.connection?.stream?.destroy?.()
    if (typeof processID === 'number') this.#options.terminate(processID)
  }

  get #extras(): PgExtras {
    return this.tx as PgExtras
  }
}

function rethrown(error: unknown): never {
  throw explained(error)
}
