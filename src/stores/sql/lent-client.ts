export type Method = (...values: unknown[]) => unknown

export interface Lending {
  /** The members that are replaced. */
  readonly methods: Map<PropertyKey, Method>
  /** The ways around them. */
  readonly hidden: ReadonlySet<PropertyKey>
  /** Members that end the transaction, or take the client away from it. */
  readonly ending: ReadonlySet<PropertyKey>
  /** Called in place of an ending one. */
  refuse(what: string): unknown
}

/** The native client as a borrower sees it: the same members, those that matter behind a ledger. */
export function lentClient<Native extends object>(native: Native, lending: Lending): Native {
  const { methods, hidden, ending, refuse } = lending
  const tx: Native = new Proxy(native, {
    get(target, name) {
      const known = methods.get(name)
      if (known !== undefined) return known
      if (hidden.has(name)) return undefined
      const member: unknown = Reflect.get(target, name, target)
      if (typeof member !== 'function' || name === 'constructor') return member
      const method = ending.has(name) ? () => refuse(`${String(name)}()`) : onNative(member as Method)
      methods.set(name, method)
      return method
    },
  })
  return tx

  /** With the native client as `this`, which it must not give away when it returns itself for chaining. */
  function onNative(member: Method): Method {
    return (...values) => {
      const result = Reflect.apply(member, native, values)
      return result === native ? tx : result
    }
  }
}
