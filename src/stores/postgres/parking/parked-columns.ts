export const inMs = (column: string): string => `floor(extract(epoch FROM ${column}) * 1000)`

/** The columns in the order in which `parkedIn` reads them. */
export const parkedColumns = `handler, key, message_id, type, source, state, reason, errors, shape, attempts, step, independent,
  order_key, sequence, revision, ${inMs('parked_at')}, ${inMs('changed_at')}, ${inMs('next_at')},
  encode(envelope, 'hex'), encode(body, 'hex'), encode(original_body, 'hex'), redrive, begun, released`
