export type { SqliteGivenOptions, SqliteOpenOptions, SqlitePathOptions } from './options.ts'
export type { SqliteDatabase, SqliteStatement, SqliteValue } from './sqlite-database.ts'
export { type SqliteStore, sqliteStore } from './sqlite-store.ts'
