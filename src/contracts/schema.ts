/** The store's own tables. Migrations are numbered and plain; each is applied once. */
export interface Schema {
  /** Brings the tables to the version this code wants. Safe when ten processes do it at once. */
  install(): Promise<void>
  /** Rejects with `SCHEMA_MISSING`, `SCHEMA_OLD` or `SCHEMA_NEW` unless the tables fit this code. */
  check(): Promise<void>
  /** The whole schema as text that an administrator can read and run. */
  print(): string
}
