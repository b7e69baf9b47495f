/** Known only here, so that a borrower cannot ask for what it names. */
export const native: unique symbol = Symbol('native')

/** The native client, even behind a lent one, because its abilities cannot be seen through the loan. */
export function nativeOf(client: object): object {
  return (client as { readonly [native]?: object })[native] ?? client
}
