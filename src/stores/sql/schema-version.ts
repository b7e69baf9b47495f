import { JustonceError } from '../../errors/index.ts'

/** Throws unless the tables have exactly the wanted version. `found` is 0 if there are no tables. */
export function checkVersion(found: number, wanted: number, metaTable: string): void {
  if (found === 0) throw new JustonceError('SCHEMA_MISSING', { message: `There is no ${metaTable}.` })
  checkNotNewer(found, wanted)
  if (found === wanted) return
  throw new JustonceError('SCHEMA_OLD', {
    message: `The tables have version ${found}, and this code needs ${wanted}.`,
  })
}

export function checkNotNewer(found: number, wanted: number): void {
  if (found <= wanted) return
  throw new JustonceError('SCHEMA_NEW', {
    message: `The tables have version ${found}, and this code knows only ${wanted}.`,
  })
}
