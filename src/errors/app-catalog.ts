/** The app and what its caller gives it: options, arguments, routes, what is published. */
export const appCatalog = {
  APP_STARTED: {
    title: 'The app is already started, so nothing more can be registered',
    fix: 'Register all handlers before app.start().',
  },
  APP_NOT_STARTABLE: {
    title: 'The app has nothing to do, or was already stopped',
    fix: 'Pass transport, from or to to justonce() and register handlers for incoming messages; create a new app to start again.',
  },
  OPTION_UNKNOWN: {
    title: 'An option is unknown',
    fix: 'Check the spelling.',
  },
  OPTION_INVALID: {
    title: 'The value of an option is invalid',
    fix: 'See docs/reference/options.md for that option.',
  },
  ARGUMENT_INVALID: {
    title: 'An argument of a command is not a text, an exact number, a bigint or bytes',
    fix: 'Convert it to text yourself, so that exactly what you mean is stored.',
  },
  SCHEDULE_INVALID: {
    title: 'The times of a schedule cannot be understood, or never come',
    fix: "Give everyMs, or cron with five fields ('0 3 * * 1-5') or a short form (@daily), and a timeZone such as 'Europe/Berlin'.",
  },
  ROUTE_UNKNOWN: {
    title: 'A published message has a type that leads to no destination, or back to an app that has no handler for it',
    fix: 'Add its type, or prefix.*, to the option routes, and its destination to the option to. A message that comes back needs a handler: app.on(type, …).',
  },
  PUBLISH_INVALID: {
    title: 'The body of a message to be published does not match the schema of its type',
    fix: 'Correct the body, or the schema in messages(). In a handler this is a failure like any other, and nothing it did is kept.',
  },
  PUBLISH_REFUSED: {
    title: 'The broker refused a message',
    fix: 'See the cause; the page of the transport lists what it can refuse.',
  },
  OUTGOING_REFUSED: {
    title: 'The broker has refused a published message repeatedly',
    fix: 'See its error history; redrive the dead letter when the cause is gone, or discard it.',
  },
  MESSAGES_MAY_BE_DROPPED: {
    title: 'The broker drops messages that it has delivered too often, because it has nowhere else to put them',
    fix: 'Give the queue a dead-letter exchange (deadLetterQueue), or remove the delivery limit; every process that dies with a message counts. Where a policy does so, leave out declare.',
  },
} as const
