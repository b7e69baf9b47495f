export type {
  MysqlCallbackPoolShape,
  MysqlConnectionShape,
  MysqlPoolShape,
  MysqlPromisePoolShape,
} from './client-shapes.ts'
export { type MysqlStore, type MysqlStoreOptions, mysqlStore } from './mysql-store.ts'
