import './long-tests.ts'
import { requireServer } from '../servers/require.ts'
import { type Acknowledging, openWorld, type World } from './world.ts'

const postgres = await requireServer('postgres')
const mariadb = await requireServer('mariadb')

/** A kind of database that crash tests run on. */
export interface StoreUnderTest {
  readonly name: 'sqlite' | 'postgres' | 'mysql'
  readonly isMissing: boolean
  open(acknowledging: Acknowledging): Promise<World>
}

export const onSqlite: StoreUnderTest = {
  name: 'sqlite',
  isMissing: false,
  open: (acknowledging) => openWorld({ acknowledging }),
}

export const onPostgres: StoreUnderTest = {
  name: 'postgres',
  isMissing: !postgres.available,
  open: (acknowledging) => openWorld({ acknowledging, postgresUrl: postgres.url }),
}

export const onMysql: StoreUnderTest = {
  name: 'mysql',
  isMissing: !mariadb.available,
  open: (acknowledging) => openWorld({ acknowledging, mariadbUrl: mariadb.url }),
}

export const stores: readonly StoreUnderTest[] = [onSqlite, onPostgres, onMysql]

export const acknowledgings: readonly Acknowledging[] = ['inside', 'separate']
