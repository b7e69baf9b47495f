import { isJustonceError } from '../../errors/index.ts'
import type { Execution } from '../batch/executions.ts'
import type { Permits } from '../batch/may-run.ts'
import { RolledBack, unwrapped } from '../batch/rolled-back.ts'
import type { Engine } from '../engine.ts'
import type { Handler } from '../handler.ts'
import { partitionId } from '../positions/partition-moves.ts'

/** Calls that may mix their statements, as chains that each keep their order, and the calls that run one after the other. */
export interface Divided<Tx> {
  readonly chains: readonly (readonly Execution<Tx>[])[]
  readonly inTurn: readonly Execution<Tx>[]
}

/** A call that failed while others were running. */
export interface FailedCall<Tx> {
  readonly execution: Execution<Tx>
  readonly error: unknown
}

/** Which handlers may share a transaction statement by statement with other messages. */
export class Interleaving<Tx> {
  /** Handlers that did what would affect the others. They run one after the other until the process ends. */
  readonly #refused = new Set<string>()

  /**
   * A chain interleaves if all of its calls may. With fewer than two chains there is nothing to interleave. Only positions in the store
   * make one chain of a partition: otherwise a handler that interleaves has agreed that messages of different keys mix.
   */
  divide(
    { store }: Pick<Engine<Tx>, 'store'>,
    executions: readonly Execution<Tx>[],
    { movesPositions = false }: Pick<Permits<Tx>, 'movesPositions'> = {},
  ): Divided<Tx> {
    const sequential: Divided<Tx> = { chains: [], inTurn: executions }
    if (store.capabilities.interleaves !== true || !executions.some((each) => this.#allows(each.handler)))
      return sequential
    const held = new Set<string | number>()
    const chains = new Map<string | number, Execution<Tx>[]>()
    for (const execution of executions) {
      const ids = execution.runs.map(({ delivery, first }) => {
        return movesPositions ? partitionId(delivery) : (delivery.message.key ?? first)
      })
      if (!this.#allows(execution.handler)) for (const id of ids) held.add(id)
      // A batch handler is in many chains, and never interleaves.
      for (const id of ids) {
        const chain = chains.get(id)
        if (chain === undefined) chains.set(id, [execution])
        else chain.push(execution)
      }
    }
    for (const id of held) chains.delete(id)
    if (chains.size < 2) return sequential
    const mixed = new Set([...chains.values()].flat())
    return { chains: [...chains.values()], inTurn: executions.filter((execution) => !mixed.has(execution)) }
  }

  #allows({ interleave, name }: Handler<Tx>): boolean {
    return interleave && !this.#refused.has(name)
  }

  /**
   * Runs the chains at the same time, and the calls of each one after the other. After a failure no further call is begun, and
   * when all have settled it rejects.
   */
  async run(
    engine: Engine<Tx>,
    chains: Divided<Tx>['chains'],
    call: (execution: Execution<Tx>) => Promise<void>,
  ): Promise<void> {
    const failures: FailedCall<Tx>[] = []
    const runChain = async (chain: readonly Execution<Tx>[]): Promise<void> => {
      for (const execution of chain) {
        if (failures.length > 0) return
        try {
          await call(execution)
        } catch (error) {
          failures.push({ execution, error })
          this.#noteRefusal(engine, execution.handler, unwrapped(error))
        }
      }
    }
    await Promise.all(chains.map(runChain))
    if (failures.length > 0) throw this.rolledBackBy(failures)
  }

  /**
   * Why the transaction is rolled back. Who is to blame is not known: the statements of one call fail because of another's,
   * and a call may be slow because of the others. So no failure counts here; what fails again alone has failed.
   */
  rolledBackBy(failures: readonly FailedCall<Tx>[]): RolledBack<Tx> {
    const rolledBack = failures.flatMap(({ error }) => (error instanceof RolledBack ? [error as RolledBack<Tx>] : []))
    const because = (reason: RolledBack<Tx>['reason']): RolledBack<Tx>[] =>
      rolledBack.filter((each) => each.reason === reason)
    const [lost] = [...because('unavailable'), ...because('conflict')]
    if (lost !== undefined) return new RolledBack(lost.reason, lost.cause)
    const culprits = because('culprit')
    if (culprits.length === 0) return new RolledBack('failure', failures[0]?.error)
    const runs = culprits.flatMap((each) => each.runs)
    return Object.assign(new RolledBack('culprit', culprits[0]?.cause, runs), { areEach: true, wasMixed: true })
  }

  /** Such a handler runs one after the other from now on. */
  #noteRefusal({ events }: Engine<Tx>, { name }: Handler<Tx>, error: unknown): void {
    if (!isJustonceError(error, 'NOT_INTERLEAVABLE') || this.#refused.has(name)) return
    this.#refused.add(name)
    events.emit({ kind: 'warning', code: error.code, message: error.message })
  }
}
