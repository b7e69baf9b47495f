/** What the store uses of a pooled connection of `mysql2/promise`. */
export interface MysqlConnectionShape {
  // biome-ignore lint/suspicious/noExplicitAny: the overloads of every version of mysql2 must fit.
  query(options: any, values?: any): Promise<any>
  // biome-ignore lint/suspicious/noExplicitAny: mysql2 types its events one by one.
  on(event: any, listener: any): unknown
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  removeListener(event: any, listener: any): unknown
  readonly threadId: number
  release(): void
  destroy(): void
}

/** A pool of `mysql2/promise`, by shape: any version, and anything built like it. */
export interface MysqlPromisePoolShape<Connection extends MysqlConnectionShape> {
  getConnection(): Promise<Connection>
}

/** The callback pool of `mysql2`; the store uses its promises. */
export interface MysqlCallbackPoolShape<Connection extends MysqlConnectionShape> {
  promise(): MysqlPromisePoolShape<Connection>
}

/** A pool of `mysql2`, with promises or with callbacks. */
export type MysqlPoolShape<Connection extends MysqlConnectionShape> =
  | MysqlPromisePoolShape<Connection>
  | MysqlCallbackPoolShape<Connection>
