/** What one call was, and what it answered. */
export interface Call<Op> {
  readonly op: Op
  readonly answer: unknown
}

/** What a call would do if it were alone. */
export type Step<State, Op> = (state: State, op: Op) => { readonly state: State; readonly answer: unknown }

/**
 * Whether the calls of several callers, and the state at their end, are those of some order of the calls, one after the other. Each
 * caller makes one call after the other.
 */
export function isSomeOrder<State, Op>(
  callers: readonly (readonly Call<Op>[])[],
  step: Step<State, Op>,
  { from, to }: { readonly from: State; readonly to: State },
): boolean {
  const seen = new Set<string>()
  const end = JSON.stringify(to)
  const look = (places: readonly number[], state: State): boolean => {
    const here = JSON.stringify([places, state])
    if (seen.has(here)) return false
    seen.add(here)
    if (places.every((place, caller) => place === callers[caller]?.length)) return JSON.stringify(state) === end
    return callers.some((calls, caller) => {
      const call = calls[places[caller] as number]
      if (call === undefined) return false
      const after = step(state, call.op)
      if (JSON.stringify(after.answer) !== JSON.stringify(call.answer)) return false
      return look(places.with(caller, (places[caller] as number) + 1), after.state)
    })
  }
  return look(
    callers.map(() => 0),
    from,
  )
}
