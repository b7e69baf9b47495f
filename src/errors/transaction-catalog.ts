/** Transactions, claims and leases, and what may go wrong with them. */
export const transactionCatalog = {
  TX_CLOSED: {
    title: 'A handler used tx after it had settled',
    fix: 'Await everything the handler starts: a floating promise, the rest of a rejected Promise.all, a timer.',
  },
  TX_NOT_OPEN: {
    title: 'The given tx is not inside a transaction, so what is stored through it would commit by itself',
    fix: 'Begin the transaction first, and pass the client on which it was begun.',
  },
  TX_CONTROL: {
    title:
      'A handler tried to begin, commit or roll back the transaction it was lent, or to change the session it shares',
    fix: 'Leave both to justonce: throw to roll back, return to commit, use SAVEPOINT for a part, and configure connections where they are opened.',
  },
  TX_ENDED: {
    title: 'The transaction was ended from inside the handler, so everything in it was rolled back',
    fix: 'Find the statement that commits or rolls back (a helper, a trigger, ON CONFLICT ROLLBACK) and remove it.',
  },
  TX_ABORTED: {
    title: 'A handler continued after a database error that had already aborted the transaction',
    fix: 'Let the error propagate, or wrap the risky statement in your own SAVEPOINT.',
  },
  COMMIT_UNKNOWN: {
    title: 'The connection was lost during the commit, so its result is not known',
    fix: 'Nothing: the consumer claims again, which shows the result. With once(), call it again with the same key.',
  },
  COMMIT_ROLLED_BACK: {
    title: 'The database answered the commit with a rollback',
    fix: 'An error inside the transaction was swallowed; let it propagate.',
  },
  CLAIM_HELD: {
    title: 'Another process holds the claim of this message and does not finish',
    fix: 'Nothing: it is retried later. If it lasts, look for a frozen process.',
  },
  CLAIM_LOST: {
    title: 'The lease of a claim expired before its transaction could commit, so none of it was applied',
    fix: 'Nothing: it is retried. If it happens often, look for frozen processes or raise leaseMs.',
  },
  DELIVERY_GONE: {
    title: 'A message was in hand and is no longer in its queue, so nothing that was done for it was committed',
    fix: 'Nothing: another process has handled it, or the database was restored to a state in which it was never sent.',
  },
  PARTLY_APPLIED: {
    title: 'A command of the handler failed after others had been applied, and Redis cannot roll those back',
    fix: 'Check what was applied, correct it by hand, then discard the dead letter. It is never retried automatically.',
  },
  LEASE_LOST: {
    title: 'The lease was lost while the work was running, so another process may have begun',
    fix: 'Respect the signal, make the work shorter or leaseMs longer, and pass the fence to the system that the work writes to.',
  },
  ISOLATION_TOO_STRICT: {
    title: 'The transaction that was joined is stricter than READ COMMITTED and met a rival',
    fix: 'Open it as READ COMMITTED, or retry the whole transaction.',
  },
  GUARANTEE_TOO_WEAK: {
    title: 'A handler asks for exactly-once effects from a store that cannot give them',
    fix: "Use an atomic store, or set delivery: 'at-least-once' and make the handler idempotent.",
  },
  STATEMENT_LOST: {
    title: 'Postgres has lost a prepared statement in the middle of a transaction, which was rolled back',
    fix: 'Nothing: the work runs again without prepared statements. Keep DEALLOCATE ALL out of handlers.',
  },
} as const
