/** What a message brings: its id, type, body and headers, and where its age and order lead it. */
export const messageCatalog = {
  MESSAGE_ID_MISSING: {
    title: 'A message arrived without an id, so duplicates cannot be recognised',
    fix: 'Set an id in the producer, or give every handler of this type identify(message).',
  },
  MESSAGE_ID_INVALID: {
    title: 'The id of a message, or the key that identify() returned, cannot be used as a key',
    fix: 'Use 1 to 255 characters of well-formed text without control characters.',
  },
  MESSAGE_TYPE_MISSING: {
    title: 'A message arrived without a type, so no handler can be chosen',
    fix: 'Set the type in the producer (CloudEvents type, a header, or what the transport page names).',
  },
  TYPE_UNKNOWN: {
    title: 'No handler is registered for the type of a message',
    fix: "Register a handler with app.on(type, …), or set unknownTypes: 'ignore'.",
  },
  BODY_NOT_JSON: {
    title: 'The body of a message is not JSON',
    fix: 'Publish JSON encoded as UTF-8, or give the app a codec for this type.',
  },
  BODY_NOT_DECODED: {
    title: 'The codec of a type could not read the body of a message',
    fix: 'Look at the cause: the sender may encode differently, or the codec lacks a schema. Correct it, then redrive the dead letter.',
  },
  BODY_NOT_ENCODED: {
    title: 'The codec of a type could not write a body, or returned something that is not bytes',
    fix: 'Make encode(value, type) return a Uint8Array and not a promise: load schemas before the app starts.',
  },
  BODY_TOO_LARGE: {
    title: 'The body of a message is larger than maxBodyBytes',
    fix: 'Send a reference instead of the content, or raise maxBodyBytes.',
  },
  BODY_TOO_DEEP: {
    title: 'The body of a message is nested too deeply to be read',
    fix: 'Send a flatter body, for example a list of references instead of a tree.',
  },
  BODY_UNSAFE: {
    title: 'The body of a message contains a __proto__ property, which can poison objects it is merged into',
    fix: 'Remove the property in the producer; no honest message needs it.',
  },
  BODY_INVALID: {
    title: 'The body of a message does not match its schema',
    fix: 'Correct the producer or the schema, then redrive the dead letter.',
  },
  BODY_CHECK_FAILED: {
    title: 'A schema threw, or did not say whether a body matches it',
    fix: 'Correct the schema, then redrive the dead letter.',
  },
  ENVELOPE_INVALID: {
    title: 'The type, the key or the source of a message is not text',
    fix: 'Make the transport deliver text, or leave out the fields that the message does not have.',
  },
  HEADERS_INVALID: {
    title: 'The headers of a message are not text, or together are larger than maxHeaderBytes',
    fix: 'Send few, short, textual headers; put content into the body.',
  },
  KEY_REUSED: {
    title: 'A message or a transfer has the same key as another one, but different content',
    fix: "Give each message its own id in the producer, and each transfer of a ledger its own; if the content may differ between retries, set fingerprint: 'none' or a function.",
  },
  MESSAGE_EXPIRED: {
    title: 'A message arrived after its expiry',
    fix: 'If it is still wanted, publish it again; if this happens often, check the backlog, expires.afterMs and the clocks.',
  },
  MESSAGE_NOT_KEPT: {
    title:
      'A message that failed could not be kept as it came: it is too large for the store, or the database cannot hold its texts',
    fix: 'Read the error history for both reasons. If the body was too large, only its size and hash are kept: have the producer send it again, smaller. Otherwise the letter holds all of it: redrive it when the database can hold it.',
  },
  DELAYED: {
    title: 'A message was published with delayMs or at, and waits for its time',
    fix: 'Nothing is wrong: it leaves when it is due. operations.outgoing.delayed() lists such messages, and app.cancel(id) cancels one.',
  },
  TOO_OLD_TO_KNOW: {
    title: 'A message is so old that its record may have been removed, so nobody knows whether it was processed',
    fix: 'Check whether its effect is there; redrive the dead letter if it is not, discard it if it is. Raise retention.days if this happens often.',
  },
  ID_FROM_THE_FUTURE: {
    title: 'The id of a message says that it was made in the future',
    fix: 'Correct the clock of the producer; the message waits until the time it names.',
  },
} as const
