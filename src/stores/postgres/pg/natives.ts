const natives = new WeakMap<object, object>()

/** Remembers the native client behind a lent one. */
export function noteNative<Client extends object>(lent: Client, native: object): Client {
  natives.set(lent, native)
  return lent
}

/** The native client, even behind a lent one, because its abilities cannot be seen through the loan. */
export function nativeOf(client: object): object {
  return natives.get(client) ?? client
}
