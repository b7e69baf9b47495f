import { JustonceError } from '../errors/index.ts'
import { type Changes, equals, oneOf, type Table, type Where } from './sql/conditions.ts'
import { Name } from './sql/fragment.ts'
import type { Row } from './sql/runner.ts'
import { changeIf } from './update-if.ts'

/** What `transition()` and the moves of a state machine answer. */
export type Transition<State> =
  | { readonly kind: 'moved' }
  /** It is in that state: a duplicate. */
  | { readonly kind: 'already'; readonly row: Row }
  /** It is in a state from which this is not allowed. */
  | { readonly kind: 'refused'; readonly current: State; readonly row: Row }
  | { readonly kind: 'missing' }

/** What `transition()` takes. */
export interface TransitionOptions<State> {
  /** The column with the state. Default: `state`. */
  readonly column?: string
  /** The state, or the states, that the row must be in. */
  readonly from: State | readonly State[]
  /** The state that it is in afterwards. */
  readonly to: State
  /** Other columns that change with it. */
  readonly set?: Changes
}

/**
 * Moves a row from one state to another, and only from an allowed one. A copy of the message finds it moved already.
 *
 * ```ts
 * const paid = await transition(tx, 'orders', { id }, { from: 'new', to: 'paid', set: { paid_at: new Date() } })
 * if (paid.kind === 'refused') throw new PermanentError(`The order is ${paid.current}.`)
 * ```
 */
export async function transition<State extends string | number>(
  tx: unknown,
  table: Table,
  where: Where,
  { column = 'state', from, to, set = {} }: TransitionOptions<State>,
): Promise<Transition<State>> {
  const allowed = Array.isArray(from) ? from : [from]
  const name = new Name([column])
  const change = { if: { [column]: oneOf(allowed) }, set: { ...set, [column]: to }, read: name, same: equals(name, to) }
  const outcome = await changeIf(tx, table, where, change)
  if (outcome.kind === 'changed') return { kind: 'moved' }
  if (outcome.kind === 'missing') return outcome
  const { row, current, isSame } = outcome
  return isSame ? { kind: 'already', row } : { kind: 'refused', current: current as State, row }
}

/** The states of something, and where each may lead. */
export interface StateMachine<States extends Readonly<Record<string, readonly string[]>>> {
  /** The states from which one may get there. */
  from(to: Target<States>): readonly (keyof States & string)[]
  /** Moves a row there from wherever that is allowed. */
  move(
    tx: unknown,
    where: Where,
    to: Target<States>,
    set?: Changes,
  ): Promise<Transition<(keyof States & string) | Target<States>>>
}

/** Each state must be named, also one that leads nowhere: a target that is no state is a misspelt one. */
type Moves<States> = { readonly [State in keyof States]: readonly (keyof States & string)[] }

type Target<States extends Readonly<Record<string, readonly string[]>>> = States[keyof States][number]

/**
 * Names the allowed moves once, and checks them by their types and in the database.
 *
 * ```ts
 * const orders = stateMachine('orders', { new: ['paid', 'cancelled'], paid: ['shipped'], shipped: [], cancelled: [] })
 * await orders.move(tx, { id }, 'paid')
 * ```
 */
export function stateMachine<const States extends Moves<States> & Readonly<Record<string, readonly string[]>>>(
  table: Table,
  states: States,
  { column = 'state' }: { readonly column?: string } = {},
): StateMachine<States> {
  checkTargets(states)
  const from = (to: string): (keyof States & string)[] =>
    Object.keys(states).filter((state) => states[state]?.includes(to))
  return {
    from,
    async move(tx, where, to, set = {}) {
      const before = from(to)
      if (before.length === 0) throw unreachable(to, states)
      return (await transition<string>(tx, table, where, { column, from: before, to, set })) as never
    },
  }
}

function unreachable(to: string, states: Readonly<Record<string, readonly string[]>>): JustonceError {
  return new JustonceError('OPTION_INVALID', {
    message: `No state leads to ${to}. Those that one can get to are ${[...new Set(Object.values(states).flat())].join(', ')}.`,
  })
}

function checkTargets(states: Readonly<Record<string, readonly string[]>>): void {
  for (const [state, targets] of Object.entries(states)) {
    const unknown = targets.find((target) => !Object.hasOwn(states, target))
    if (unknown === undefined) continue
    throw new JustonceError('OPTION_INVALID', {
      message: `${state} leads to ${unknown}, which is no state. States are ${Object.keys(states).join(', ')}; name one that leads nowhere as ${unknown}: [].`,
    })
  }
}
