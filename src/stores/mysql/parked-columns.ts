/** The columns of the parked table without an alias, in the order in which `parkedIn` reads them. */
export const parkedColumns = `handler, \`key\`, message_id, type, source, state, reason, errors, shape, attempts, step, independent,
  order_key, sequence, revision, parked_at, changed_at, next_at, envelope, \`body\`, original_body, redrive, begun, released`
