const natives = new WeakMap<object, object>()

/** Notes whose client it is that somebody is lent. */
export function noteNative<Client extends object>(lent: Client, native: object): Client {
  natives.set(lent, native)
  return lent
}

/** The client itself, also of one that was lent: what it can do is not to be seen through the loan. */
export function nativeOf(client: object): object {
  return natives.get(client) ?? client
}
