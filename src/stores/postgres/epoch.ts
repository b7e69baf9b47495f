import type { Tables } from './tables.ts'

/**
 * The epoch as claims answer with it. The row alone would not do: it comes back with a backup, and then it says that
 * nothing has changed. What cannot come back is the moment at which this server was started, and no data folder is put in
 * place, and no standby takes over, without another one. Dumps are restored into a running server: by then the table is
 * another one, or has another file. Its path also names the database: in a copy of that, made from a template, all the
 * rest is as it was.
 */
export function epochText({ meta }: Tables, { knowsStart }: { readonly knowsStart: boolean }): string {
  const start = `, extract(epoch FROM pg_catalog.pg_postmaster_start_time())`
  return `(SELECT pg_catalog.concat_ws('.', known.epoch, known.tableoid,
             pg_catalog.pg_relation_filepath(known.tableoid)${knowsStart ? start : ''})
           FROM ${meta} AS known)`
}
