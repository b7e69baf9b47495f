import type { Tables } from './tables.ts'

/**
 * The epoch that claims return. The row alone is not enough: it is restored with a backup, and then says that nothing has
 * changed. The start time of the server cannot be restored, and no data folder is put in place, and no standby takes over,
 * without a new one. Dumps are restored into a running server: then the table is a different one, or has another file. The
 * path of that file also names the database: in a copy made from a template, everything else is the same.
 */
export function epochText({ meta }: Tables, { knowsStart }: { readonly knowsStart: boolean }): string {
  const start = `, extract(epoch FROM pg_catalog.pg_postmaster_start_time())`
  return `(SELECT pg_catalog.concat_ws('.', known.epoch, known.tableoid,
             pg_catalog.pg_relation_filepath(known.tableoid)${knowsStart ? start : ''})
           FROM ${meta} AS known)`
}
