export type Method = (...values: unknown[]) => unknown

export interface Lending {
  /** The members that are replaced. */
  readonly methods: Map<PropertyKey, Method>
  /** Members that would bypass the replaced ones. */
  readonly hidden: ReadonlySet<PropertyKey>
  /** Members that end the transaction or detach the client from it. */
  readonly ending: ReadonlySet<PropertyKey>
  /** What only the loan has. */
  readonly own?: ReadonlyMap<PropertyKey, unknown>
  /** Called instead of an ending member. */
  refuse(what: string): unknown
}

/** The native client as a borrower sees it. It has the same members, but those that matter go through a ledger. */
export function lentClient<Native extends object>(native: Native, lending: Lending): Native {
  const { methods, hidden, ending, own, refuse } = lending
  const tx: Native = new Proxy(native, {
    get(target, name) {
      const known = methods.get(name)
      if (known !== undefined) return known
      if (hidden.has(name)) return undefined
      if (own?.has(name)) return own.get(name)
      const member: unknown = Reflect.get(target, name, target)
      if (typeof member !== 'function' || name === 'constructor') return member
      const method = ending.has(name) ? () => refuse(`${String(name)}()`) : onNative(member as Method)
      methods.set(name, method)
      return method
    },
  })
  return tx

  /** Calls the member with the native client as `this`. If it returns that for chaining, `tx` is returned instead. */
  function onNative(member: Method): Method {
    return (...values) => {
      const result = Reflect.apply(member, native, values)
      return result === native ? tx : result
    }
  }
}
