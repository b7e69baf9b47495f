/** What the store uses of a `pg` client. */
export interface PgClientShape {
  // biome-ignore lint/suspicious/noExplicitAny: the overloads of every version of pg must fit.
  query(config: any, values?: any, callback?: any): any
  // biome-ignore lint/suspicious/noExplicitAny: pg types its events one by one.
  on(event: any, listener: any): unknown
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  removeListener(event: any, listener: any): unknown
  release(destroy?: boolean): void
}

/** A `Pool` of `pg`, by shape: any version, and anything built like it. */
export interface PgPoolShape<Client extends PgClientShape> {
  connect(): Promise<Client>
  // biome-ignore lint/suspicious/noExplicitAny: only here so that Client is inferred from the overload above.
  connect(callback: (...values: any[]) => void): void
  readonly options?: { readonly max?: number | undefined }
  // biome-ignore lint/suspicious/noExplicitAny: pg types its events one by one.
  on?(event: any, listener: any): unknown
}

/** What the store uses of a connection that postgres.js has reserved. */
export interface PostgresJsShape {
  // biome-ignore lint/suspicious/noExplicitAny: postgres.js types its parameters by the types the user has registered.
  unsafe(text: string, values?: any, options?: any): any
  release(): void
}

/** The `sql` of postgres.js, by shape. */
export interface PostgresJsClientShape<Sql extends PostgresJsShape> {
  reserve(): Promise<Sql>
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  unsafe(text: string, values?: any, options?: any): any
  listen(
    channel: string,
    heard: (payload: string) => void,
    onListen?: () => void,
  ): PromiseLike<{ unlisten(): Promise<void> }>
  readonly options: { readonly max: number; readonly fetch_types?: boolean }
}
