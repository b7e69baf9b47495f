export type { PgClientShape, PgPoolShape, PostgresJsClientShape, PostgresJsShape } from './client-shapes.ts'
export {
  type PgStoreOptions,
  type PostgresJsStoreOptions,
  type PostgresStore,
  type PostgresStoreOptions,
  postgresStore,
} from './postgres-store.ts'
